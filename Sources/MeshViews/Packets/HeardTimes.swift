import Projections
import ProtobufWire

/// When the events of a block of the index were heard, or arrived where that is unknown: the earliest and the latest time, in seconds since 1970.
///
/// Key: the number of the block (4 bytes, big-endian). Value: both times (4 bytes each, big-endian). Blocks that an earlier version wrote have none.
package struct HeardTimes: Sendable, Equatable {
    package static let table = "heard"

    package private(set) var earliest: UInt32 = .max
    package private(set) var latest: UInt32 = 0

    init() {}

    /// Nil where the bytes are damaged.
    package init?(_ value: RawSpan) {
        guard value.byteCount == 8 else { return nil }
        (earliest, latest) = (value.bigEndianUInt32(at: 0), value.bigEndianUInt32(at: 4))
    }

    var value: [UInt8] { bigEndian(earliest) + bigEndian(latest) }

    @inline(__always)
    mutating func note(_ time: UInt32) {
        if time < earliest { earliest = time }
        if time > latest { latest = time }
    }
}
