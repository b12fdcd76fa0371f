import Projections
import ProtobufWire
public import ViewQuery

extension ArchivedRow: QueryRow {
    public static let view = "archived"
    public static let table = "archived"

    public static let columns: [RowColumn<ArchivedRow>] = [
        RowColumn("table", \.table) { $0.table }.stored(), RowColumn("name", \.name) { $0.name }.stored(),
        RowColumn("archivedAt", \.archivedAt) { $0.archivedAt }.stored(1).shown(as: .time),
        RowColumn("sequence", \.sequence) { $0.sequence }.stored(2),
        RowColumn("nodes", \.nodes) { $0.nodes }.stored(3).shown(as: .node),
        RowColumn("kept", \.kept) { $0.kept }.stored(4),
    ]

    static func prefix(_ table: String) -> [UInt8] { Array(table.utf8) + [0] }

    package var key: [UInt8] { Self.prefix(table) + name }

    var value: [UInt8] {
        var writer = WireWriter(capacity: 32)
        writer.fixed32(1, archivedAt)
        writer.varint(2, sequence)
        if !nodes.isEmpty { writer.packedFixed32(3, nodes) }
        if !kept.isEmpty { writer.string(4, kept) }
        if !packets.isEmpty { writer.packedFixed32(5, PacketName.numbers(packets)) }
        return writer.bytes
    }

    public init?(key: RawSpan, value: RawSpan) {
        var parts = KeyParts(key)
        guard let table = parts.text() else { return nil }
        self.init(table: table, name: parts.rest)
        var reader = WireReader(value)
        do throws(WireError) {
            while let field = try reader.next() {
                switch field.number {
                case 1: archivedAt = field.asUInt32
                case 2: sequence = field.scalar
                case 3: nodes += Annotation.numbers(reader.bytes(field))
                case 4: kept = reader.string(field)
                case 5: packets += PacketName.all(in: Annotation.numbers(reader.bytes(field)))
                default: continue
                }
            }
        } catch {
            return nil
        }
    }
}

extension ReferenceRow: QueryRow {
    public static let view = "archived"
    public static let table = "references"

    public static let columns: [RowColumn<ReferenceRow>] = [
        RowColumn("relation", \.relation) { $0.relation }.stored(), RowColumn("table", \.table) { $0.table }.stored(),
        RowColumn("name", \.name) { $0.name }.stored(), RowColumn("targetTable", \.targetTable) { $0.targetTable }.stored(),
        RowColumn("target", \.target) { $0.target }.stored(),
        RowColumn("time", \.time) { $0.time }.stored(1).shown(as: .time),
        RowColumn("sequence", \.sequence) { $0.sequence }.stored(2),
        RowColumn("nodes", \.nodes) { $0.nodes }.stored(3).shown(as: .node),
    ]

    /// The prefix of the keys of all references of a row.
    package static func prefix(_ relation: String, _ table: String, _ name: [UInt8]) -> [UInt8] {
        Array(relation.utf8) + [0] + Array(table.utf8) + [0, UInt8(truncatingIfNeeded: name.count)] + name
    }

    var key: [UInt8] { Self.prefix(relation, table, name) + Array(targetTable.utf8) + [0] + target }

    var value: [UInt8] {
        var writer = WireWriter(capacity: 32)
        writer.fixed32(1, time)
        writer.varint(2, sequence)
        if !nodes.isEmpty { writer.packedFixed32(3, nodes) }
        return writer.bytes
    }

    public init?(key: RawSpan, value: RawSpan) {
        var parts = KeyParts(key)
        guard let relation = parts.text(), let table = parts.text(), let name = parts.counted(), let other = parts.text() else {
            return nil
        }
        self.init(relation, from: table, name, to: other, parts.rest)
        var reader = WireReader(value)
        do throws(WireError) {
            while let field = try reader.next() {
                switch field.number {
                case 1: time = field.asUInt32
                case 2: sequence = field.scalar
                case 3: nodes += Annotation.numbers(reader.bytes(field))
                default: continue
                }
            }
        } catch {
            return nil
        }
    }
}

/// The parts of a key of decisions, one after the other.
private struct KeyParts {
    private let bytes: [UInt8]
    private var place = 0

    init(_ key: RawSpan) { bytes = key.asArray }

    var rest: [UInt8] { Array(bytes[place...]) }

    /// A text that ends with a zero.
    mutating func text() -> String? {
        guard let end = bytes[place...].firstIndex(of: 0) else { return nil }
        defer { place = end + 1 }
        return String(decoding: bytes[place..<end], as: UTF8.self)
    }

    /// Bytes that follow their number.
    mutating func counted() -> [UInt8]? {
        guard place < bytes.count, place + 1 + Int(bytes[place]) <= bytes.count else { return nil }
        let end = place + 1 + Int(bytes[place])
        defer { place = end }
        return Array(bytes[place + 1..<end])
    }
}
