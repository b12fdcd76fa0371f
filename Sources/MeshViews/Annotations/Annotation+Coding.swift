public import EventLog
import Projections
import ProtobufWire

/// Protobuf: `Annotation` of `views.proto`. An empty note or alias clears it; a missing field changes nothing.
extension Annotation {
    public var payload: [UInt8] {
        var writer = WireWriter(capacity: 64)
        switch subject {
        case .node(let node): writer.fixed32(1, node)
        case .messages(let keys): writer.packedFixed32(2, keys.flatMap { [$0.from, $0.id, $0.time] })
        case .rows(let rows):
            writer.string(12, rows.table)
            for name in rows.names { writer.bytes(13, name) }
            if !rows.nodes.isEmpty { writer.packedFixed32(14, rows.nodes) }
            if !rows.packets.isEmpty { writer.packedFixed32(17, PacketName.numbers(rows.packets)) }
        }
        if let isFavorite { writer.bool(3, isFavorite) }
        if let isIgnored { writer.bool(4, isIgnored) }
        if let isArchived { writer.bool(5, isArchived) }
        if let isRead { writer.bool(6, isRead) }
        note.write(7, to: &writer)
        alias.write(8, to: &writer)
        if let time { writer.fixed32(9, time) }
        if reverts != 0 { writer.varint(10, reverts) }
        if !request.isEmpty { writer.string(11, request) }
        for text in kept { writer.string(15, text) }
        if let reference {
            writer.message(16) { message in
                message.string(1, reference.relation)
                message.varint(2, UInt64(reference.kind.rawValue))
                message.string(3, reference.table)
                for target in reference.targets { message.bytes(4, target) }
            }
        }
        return writer.bytes
    }

    /// Nil if the event is not an annotation, or was erased.
    public init?(_ event: Event) {
        guard event.header.encoding == .annotation, !event.header.isErased else { return nil }
        self.init(payload: event.payload.rawSpan)
    }

    /// Nil if the bytes are not an annotation, or name nothing to change. Fields that this version does not know are skipped.
    public init?(payload: RawSpan) {
        self.init(.messages([]))
        var (node, keys, rows): (UInt32?, [MessageKey], RowNames) = (nil, [], RowNames(table: "", names: []))
        var reader = WireReader(payload)
        do throws(WireError) {
            while let field = try reader.next() {
                switch field.number {
                case 1: node = field.asUInt32
                case 2: keys += Self.keys(reader.bytes(field))
                case 3: isFavorite = field.asBool
                case 4: isIgnored = field.asBool
                case 5: isArchived = field.asBool
                case 6: isRead = field.asBool
                case 7: note = Patch(text: reader.string(field))
                case 8: alias = Patch(text: reader.string(field))
                case 9: time = field.asUInt32
                case 10: reverts = field.scalar
                case 11: request = reader.string(field)
                case 12: rows.table = reader.string(field)
                case 13: rows.names.append(reader.bytes(field).asArray)
                case 14: rows.nodes += Self.numbers(reader.bytes(field))
                case 15: kept.append(reader.string(field))
                case 17: rows.packets += PacketName.all(in: Self.numbers(reader.bytes(field)))
                case 16: reference = try ReferenceChange(decoding: reader.bytes(field))
                default: continue
                }
            }
        } catch {
            return nil
        }
        switch (node, keys.isEmpty, rows.names.isEmpty) {
        case (let node?, true, true) where node != 0 && node != .max: subject = .node(node)
        case (nil, false, true): subject = .messages(keys)
        case (nil, true, false) where RowNames.isTable(rows.table) && rows.names.allSatisfy(RowNames.isName):
            subject = .rows(rows)
        default: return nil
        }
    }

    /// Three little-endian numbers each; a remainder at the end is ignored.
    private static func keys(_ packed: RawSpan) -> [MessageKey] {
        let numbers = numbers(packed)
        return stride(from: 0, through: numbers.count - 3, by: 3).map { place in
            MessageKey(from: numbers[place], id: numbers[place + 1], time: numbers[place + 2])
        }
    }

    static func numbers(_ packed: RawSpan) -> [UInt32] {
        (0..<packed.byteCount / 4).map { number in
            (0..<4).reduce(UInt32(0)) { $0 | UInt32(packed.byte(at: 4 * number + $1)) << UInt32(8 * $1) }
        }
    }
}

extension ReferenceChange {
    /// - Throws: if the bytes contain no change.
    fileprivate init(decoding bytes: RawSpan) throws(WireError) {
        self.init("", .set, table: "", targets: [])
        var (reader, found) = (WireReader(bytes), Kind?.none)
        while let field = try reader.next() {
            switch field.number {
            case 1: relation = reader.string(field)
            case 2: found = Kind(rawValue: UInt8(clamping: field.scalar))
            case 3: table = reader.string(field)
            case 4: targets.append(reader.bytes(field).asArray)
            default: continue
            }
        }
        guard let found, isSound else { throw WireError(.invalidValue, offset: 0) }
        kind = found
    }

    /// Whether it can be part of keys.
    package var isSound: Bool {
        RowNames.isTable(relation) && RowNames.isTable(table) && targets.allSatisfy(RowNames.isName)
            && (kind == .detach || !targets.isEmpty || kind == .set)
    }
}

extension Patch<String> {
    /// An empty text clears.
    package init(text: String) { self = text.isEmpty ? .clear : .set(text) }

    /// Its stored text; nil if nothing is to be stored.
    package var text: String? {
        switch self {
        case .set(let text): text
        case .clear: ""
        case .keep: nil
        }
    }

    fileprivate func write(_ number: UInt32, to writer: inout WireWriter) {
        if let text { writer.string(number, text) }
    }
}
