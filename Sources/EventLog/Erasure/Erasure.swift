internal import ProtobufWire

/// Events whose payloads were erased for good, and why. An event records each erasure; without it, an erased record counts as a forgery.
public struct Erasure: Sendable, Hashable, Codable {
    /// The erased events, in ascending order, without overlaps.
    public let ranges: [ClosedRange<EventSequence>]
    public let reason: String
    /// The request, such as `node !19025c00`.
    public let request: String
    /// The root of the Merkle tree over the log's events up to the last erased one: it identifies the log that the events belong to.
    public let root: [UInt8]
    /// The identifier of the log.
    public let log: String
    /// The event that records the erasure.
    public let sequence: EventSequence

    /// The number of erased events.
    public var count: UInt64 { ranges.reduce(0) { $0 &+ ($1.upperBound.rawValue - $1.lowerBound.rawValue) &+ 1 } }
    public var last: EventSequence { ranges.last?.upperBound ?? .zero }

    package init(
        ranges: [ClosedRange<EventSequence>], reason: String, request: String, root: [UInt8], log: String,
        sequence: EventSequence = .zero
    ) {
        self.ranges = ranges
        self.reason = reason
        self.request = request
        self.root = root
        self.log = log
        self.sequence = sequence
    }
}

extension Erasure {
    /// The most ranges in one event; a larger erasure takes several.
    package static let largestCount = 1 << 20

    /// Protobuf: 1 the ranges, packed: for each the distance from the previous one (from 1 on), and its count less 1; 2 reason, 3 request, 4 root.
    package var payload: [UInt8] {
        var numbers: [UInt64] = []
        numbers.reserveCapacity(2 * ranges.count)
        var next: UInt64 = 1
        for range in ranges {
            numbers.append(range.lowerBound.rawValue - next)
            numbers.append(range.upperBound.rawValue - range.lowerBound.rawValue)
            next = range.upperBound.rawValue + 1
        }
        var writer = WireWriter(capacity: 64 + 4 * numbers.count)
        writer.packedVarint(1, numbers)
        writer.string(2, reason)
        writer.string(3, request)
        writer.bytes(4, root)
        return writer.bytes
    }

    /// Nil if the bytes are not an erasure.
    package init?(payload: RawSpan, log: String, sequence: EventSequence) {
        var ranges: [ClosedRange<EventSequence>] = []
        var (reason, request, root) = ("", "", [UInt8]())
        var reader = WireReader(payload)
        do throws(WireError) {
            while let field = try reader.next() {
                switch field.tag {
                case WireField.tag(1, .lengthDelimited):
                    guard let read = try Self.ranges(payload, in: field.range) else { return nil }
                    ranges = read
                case WireField.tag(2, .lengthDelimited): reason = reader.string(field)
                case WireField.tag(3, .lengthDelimited): request = reader.string(field)
                case WireField.tag(4, .lengthDelimited): root = reader.bytes(field).copied
                default: break
                }
            }
        } catch {
            return nil
        }
        self.init(ranges: ranges, reason: reason, request: request, root: root, log: log, sequence: sequence)
    }

    private static func ranges(
        _ payload: RawSpan, in place: ByteRange
    ) throws(WireError) -> [ClosedRange<EventSequence>]? {
        var ranges: [ClosedRange<EventSequence>] = []
        var reader = WireReader(payload, in: place)
        var next: UInt64 = 1
        while !reader.isAtEnd {
            let first = next.addingReportingOverflow(try reader.varint())
            let last = first.partialValue.addingReportingOverflow(reader.isAtEnd ? 0 : try reader.varint())
            guard !first.overflow, !last.overflow, last.partialValue < .max else { return nil }
            ranges.append(EventSequence(first.partialValue)...EventSequence(last.partialValue))
            next = last.partialValue + 1
        }
        return ranges
    }
}
