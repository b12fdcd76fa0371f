internal import ProtobufWire

/// Events that a source had to drop. The loss is recorded as an event with the encoding `.gap`.
public struct Gap: Sendable, Hashable {
    /// How many events were dropped.
    public var count: UInt64
    public var first: Timestamp
    public var last: Timestamp
    public var reason: String

    public init(count: UInt64, first: Timestamp, last: Timestamp, reason: String) {
        self.count = count
        self.first = first
        self.last = last
        self.reason = reason
    }

    /// Protobuf: 1 count, 2 first and 3 last in microseconds, 4 reason.
    public var payload: [UInt8] {
        var writer = WireWriter(capacity: 32)
        writer.varint(1, count)
        writer.int64(2, first.microseconds)
        writer.int64(3, last.microseconds)
        writer.string(4, reason)
        return writer.bytes
    }

    /// Nil if the bytes are not a gap.
    public init?(payload: RawSpan) {
        self.init(count: 0, first: Timestamp(microseconds: 0), last: Timestamp(microseconds: 0), reason: "")
        var reader = WireReader(payload)
        do throws(WireError) {
            while let field = try reader.next() {
                switch field.number {
                case 1: count = field.scalar
                case 2: first = Timestamp(microseconds: Int64(bitPattern: field.scalar))
                case 3: last = Timestamp(microseconds: Int64(bitPattern: field.scalar))
                case 4: reason = reader.string(field)
                default: break
                }
            }
        } catch {
            return nil
        }
    }

    public func event(of source: SourceID) -> NewEvent { NewEvent(payload, encoding: .gap, source: source) }
}
