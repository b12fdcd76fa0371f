internal import ProtobufWire

/// The 16 bytes that identify a log.
package struct LedgerID: Sendable, Hashable, Comparable {
    private let high: UInt64
    private let low: UInt64

    /// Nil unless there are 16 bytes.
    package init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == 16 else { return nil }
        high = bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
        low = bytes.suffix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Reads 32 hexadecimal digits.
    package init?(_ text: String) {
        guard text.utf8.count == 32, let high = UInt64(text.prefix(16), radix: 16), let low = UInt64(text.suffix(16), radix: 16)
        else { return nil }
        (self.high, self.low) = (high, low)
    }

    package init(_ numbers: (UInt64, UInt64)) { (high, low) = numbers }

    /// The first and the last eight bytes, as numbers that sort like the bytes.
    package var numbers: (UInt64, UInt64) { (high, low) }

    package var bytes: [UInt8] {
        [high, low].flatMap { number in
            stride(from: 56, through: 0, by: -8).map { UInt8(truncatingIfNeeded: number >> UInt64($0)) }
        }
    }

    /// As hexadecimal digits.
    package var text: String { Hexadecimal.text(bytes) }

    package static func < (left: LedgerID, right: LedgerID) -> Bool {
        left.high != right.high ? left.high < right.high : left.low < right.low
    }
}
