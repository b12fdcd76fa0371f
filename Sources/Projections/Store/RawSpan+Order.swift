import Foundation

extension RawSpan {
    /// Negative if these bytes come before the others, 0 if they are the same.
    @inline(__always)
    package func compared(to other: RawSpan) -> Int {
        let common = min(byteCount, other.byteCount)
        let order = unsafe withUnsafeBytes { left in
            unsafe other.withUnsafeBytes { right in
                guard let left = left.baseAddress, let right = right.baseAddress else { return Int32(0) }
                return unsafe memcmp(left, right, common)
            }
        }
        return order != 0 ? Int(order) : byteCount - other.byteCount
    }

    package func isSame(as other: RawSpan) -> Bool { byteCount == other.byteCount && compared(to: other) == 0 }
}
