public import EventLog
import Projections
import ProtobufWire

/// Protobuf: `Annotation` of `views.proto`. An empty note or alias clears it; a field that is not there changes nothing.
extension Annotation {
    public var payload: [UInt8] {
        var writer = WireWriter(capacity: 64)
        switch subject {
        case .node(let node): writer.fixed32(1, node)
        case .messages(let keys): writer.packedFixed32(2, keys.flatMap { [$0.from, $0.id, $0.time] })
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
        return writer.bytes
    }

    /// Nil where the event is none, or was erased.
    public init?(_ event: Event) {
        guard event.header.encoding == .annotation, !event.header.isErased else { return nil }
        self.init(payload: event.payload.rawSpan)
    }

    /// Nil where the bytes are no annotation, or say of nothing what is to change. Fields that this version does not know are passed over.
    public init?(payload: RawSpan) {
        self.init(.messages([]))
        var (node, keys): (UInt32?, [MessageKey]) = (nil, [])
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
                default: continue
                }
            }
        } catch {
            return nil
        }
        switch (node, keys.isEmpty) {
        case (let node?, true) where node != 0 && node != .max: subject = .node(node)
        case (nil, false): subject = .messages(keys)
        default: return nil
        }
    }

    /// Three little-endian numbers each; what is left at the end is nothing.
    private static func keys(_ packed: RawSpan) -> [MessageKey] {
        var keys: [MessageKey] = []
        keys.reserveCapacity(packed.byteCount / 12)
        for place in 0..<packed.byteCount / 12 {
            let numbers = (0..<3).map { number in
                (0..<4).reduce(UInt32(0)) { $0 | UInt32(packed.byte(at: 12 * place + 4 * number + $1)) << UInt32(8 * $1) }
            }
            keys.append(MessageKey(from: numbers[0], id: numbers[1], time: numbers[2]))
        }
        return keys
    }
}

extension Patch<String> {
    /// An empty text clears.
    init(text: String) { self = text.isEmpty ? .clear : .set(text) }

    /// The text that says it; nil where it says nothing.
    var text: String? {
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
