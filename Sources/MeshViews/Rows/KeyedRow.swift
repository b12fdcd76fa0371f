import Projections
import ProtobufWire
import ViewQuery

/// A row that its view keeps in memory as a whole, under a number.
protocol KeyedRow: Sendable {
    /// How many bytes of the number make up the key in the file, big-endian: 4 or 8.
    static var keyLength: Int { get }

    var key: UInt64 { get }
    /// Seconds since 1970.
    var time: UInt32 { get }
    /// Beyond the cap the row with the lowest age is evicted, among equals the one with the lowest key: its time, or 0 where all that is known is the time
    /// of an import, so that such rows go first.
    var age: UInt32 { get }

    /// The row's size in the file, in bytes, roughly.
    var storedSize: Int { get }

    /// Whether erasing a node removes the row: it belongs to the node, or, where mentions are erased as well, names it.
    func isOf(_ node: ErasedNode) -> Bool

    /// Reads the row where a change will touch it, see `KeyedRows.prefetch`: the result has no meaning.
    var prefetch: UInt64 { get }

    func encode(to writer: inout WireWriter)
    init(key: UInt64, decoding value: RawSpan) throws(WireError)
}

/// A row whose declaration defines how its fields are stored, and which of its properties name a node.
protocol DeclaredFields {
    static var declaration: RowDeclaration<Self> { get }
}

extension DeclaredFields {
    func encode(to writer: inout WireWriter) { Self.declaration.write(self, to: &writer) }

    /// Reads the stored fields.
    /// - Returns: false if the bytes are damaged.
    mutating func take(_ value: RawSpan) -> Bool {
        do {
            try Self.declaration.take(&self, from: value)
            return true
        } catch {
            return false
        }
    }

    /// Whether erasing a node removes the row: it belongs to the node, or, where mentions are erased as well, names it.
    func isOf(_ node: ErasedNode) -> Bool {
        Self.declaration.names(node.number, in: self, includesMentions: node.includesMentions)
    }
}

/// A declared row that its view keeps in memory as a whole.
protocol DeclaredRow: KeyedRow, DeclaredFields {
    init(key: UInt64)
}

extension DeclaredRow {
    init(key: UInt64, decoding value: RawSpan) throws(WireError) {
        self.init(key: key)
        try Self.declaration.take(&self, from: value)
    }

    init?(stored key: RawSpan, _ value: RawSpan) {
        guard let row = Self.decode(key: key, value: value) else { return nil }
        self = row
    }

    static var keyLength: Int { declaration.keyLength }
}

extension DeclaredTable {
    /// The table of these rows.
    static func rows<Row: DeclaredRow & QueryRow>(
        _ row: Row.Type, ofPacket: OfPacket, countedIn count: RowCount? = nil
    ) -> DeclaredTable {
        .rows(row, ofNode: .declared(row), ofPacket: ofPacket, countedIn: count)
    }
}

extension DeclaredTable.OfNode {
    /// The rows that their declaration assigns to the node, and those that cannot be read.
    static func declared<Row: DeclaredRow>(_: Row.Type) -> Self {
        precondition(Row.declaration.namesNodes, "the declaration of \(Row.self) names no node")
        return .row { erasure, key, value in Row.decode(key: key, value: value)?.isOf(erasure.node) ?? true }
    }
}

extension KeyedRow {
    @inline(__always)
    var age: UInt32 { time }

    @inline(__always)
    var prefetch: UInt64 { UInt64(time) }

    /// A stored row, or nil where the bytes are damaged.
    static func decode(key: RawSpan, value: RawSpan) -> Self? {
        guard key.byteCount == keyLength else { return nil }
        do {
            return try Self(
                key: keyLength == 4 ? UInt64(key.bigEndianUInt32(at: 0)) : key.bigEndianUInt64(at: 0), decoding: value)
        } catch {
            return nil
        }
    }
}
