/// The lowest and highest arrival time of some events.
package struct ArrivalRange: Sendable, Equatable {
    var lowest = Int64.max
    package var highest = Int64.min

    mutating func include(_ arrival: Int64) {
        lowest = min(lowest, arrival)
        highest = max(highest, arrival)
    }

    var bytes: [UInt8] {
        var bytes = [UInt8]()
        bytes.reserveCapacity(16)
        for number in [lowest, highest] {
            for shift in stride(from: 0, to: 64, by: 8) { bytes.append(UInt8(truncatingIfNeeded: number >> shift)) }
        }
        return bytes
    }

    init() {}

    init?(_ bytes: RawSpan) {
        guard bytes.byteCount == 16 else { return nil }
        lowest = Int64(littleEndian: unsafe bytes.unsafeLoadUnaligned(as: Int64.self))
        highest = Int64(littleEndian: unsafe bytes.unsafeLoadUnaligned(fromByteOffset: 8, as: Int64.self))
    }
}
