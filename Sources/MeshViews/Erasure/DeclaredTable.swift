import Projections
import ProtobufWire
import ViewQuery

/// A table of a built-in view, and what an erasure removes from it in the baselines of dropped events.
package struct DeclaredTable: Sendable {
    /// What of a row goes with an erased node.
    enum OfNode: Sendable {
        /// Nothing: it belongs to no single node.
        case nothing
        /// The row, if its key begins with the node.
        case key
        /// The row, if the key and the value are of the node.
        case row(@Sendable (NodeErasure, RawSpan, RawSpan) -> Bool)
        /// Parts of the value: what is left of it, nil if nothing is.
        case parts(@Sendable (NodeErasure, RawSpan, RawSpan) -> [UInt8]?)
    }

    /// What of a row goes with an erased packet.
    enum OfPacket: Sendable {
        /// Nothing: no packet or many contributed to it.
        case nothing
        /// The row, if the key and the value are of the packet.
        case row(@Sendable (PacketErasure, RawSpan, RawSpan) -> Bool)
        /// Parts of the value: what is left of it, nil if nothing is.
        case parts(@Sendable (PacketErasure, RawSpan, RawSpan) -> [UInt8]?)
    }

    package let name: String
    /// What a row of it is; nil for state, and for rows that only the view's own queries can read.
    var row: (any QueryRow.Type)?
    let isState: Bool
    let ofNode: OfNode
    let ofPacket: OfPacket
    /// What counts the rows.
    var count: RowCount?
    /// The source of a row that says that the source's radio is the node.
    var source: (@Sendable (ErasedNode, RawSpan, RawSpan) -> UInt32?)?

    /// A table whose rows are asked for.
    static func rows(_ name: String, ofNode: OfNode, ofPacket: OfPacket) -> DeclaredTable {
        DeclaredTable(name: name, isState: false, ofNode: ofNode, ofPacket: ofPacket)
    }

    /// A table whose rows generic queries read.
    static func rows<Row: QueryRow>(_ row: Row.Type, ofNode: OfNode, ofPacket: OfPacket, countedIn count: RowCount? = nil)
        -> DeclaredTable
    {
        DeclaredTable(name: row.table, row: row, isState: false, ofNode: ofNode, ofPacket: ofPacket, count: count)
    }

    /// A table that only serves the fold.
    static func state(_ name: String, ofNode: OfNode, ofPacket: OfPacket) -> DeclaredTable {
        DeclaredTable(name: name, isState: true, ofNode: ofNode, ofPacket: ofPacket)
    }
}

/// A row of another table that counts the rows of a table, so that it is decreased when some of them go.
struct RowCount: Sendable {
    let table: String
    /// Its key, by the key of a counted row.
    let key: @Sendable (RawSpan) -> [UInt8]
    /// Its value with so many less, nil if the row goes as well.
    let less: @Sendable (_ value: RawSpan, _ count: UInt64) -> [UInt8]?

    /// The table that counts the rows of each series, whose keys end in time and sequence.
    static func ofSeries(_ table: String = "counts") -> RowCount {
        RowCount(table: table) {
            Array($0.asArray.dropLast(12))
        } less: { value, count in
            let stored = value.bigEndianUInt64(at: 0)
            return stored > count ? bigEndian(stored - count) : nil
        }
    }
}

extension DeclaredTable.OfPacket {
    /// The row of a node's series, whose second field is the packet's id.
    static let secondField = Self.row { erasure, key, value in
        key.byteCount >= 16 && erasure.isOf(secondField(value), key.bigEndianUInt32(at: 0))
    }

    /// 0 if it cannot be read.
    private static func secondField(_ value: RawSpan) -> UInt32 {
        var reader = WireReader(value)
        do {
            while let field = try reader.next() { if field.number == 2 { return field.asUInt32 } }
        } catch {
            return 0
        }
        return 0
    }
}
