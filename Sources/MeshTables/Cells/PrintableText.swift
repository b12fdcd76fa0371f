/// Bytes that may be printed as they are.
package enum PrintableText {
    private static let ones: UInt64 = 0x0101_0101_0101_0101
    private static let highs: UInt64 = 0x8080_8080_8080_8080

    /// Whether all bytes are printable ASCII other than these two. Eight bytes are tested at once.
    package static func isPrintable(_ text: UnsafeBufferPointer<UInt8>, without first: UInt8, _ second: UInt8) -> Bool {
        let bytes = UnsafeRawBufferPointer(text)
        var index = 0
        while index + 8 <= bytes.count {
            let word = unsafe bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self)
            let isBad = word | controls(word) | equals(word, 0x7f) | equals(word, first) | equals(word, second)
            guard isBad & highs == 0 else { return false }
            index += 8
        }
        while index < bytes.count {
            let byte = unsafe bytes[index]
            guard byte >= 0x20, byte < 0x7f, byte != first, byte != second else { return false }
            index += 1
        }
        return true
    }

    /// The high bit of some byte is set if one is below 0x20, and of none if none is.
    private static func controls(_ word: UInt64) -> UInt64 { (word &- ones &* 0x20) & ~word }

    private static func equals(_ word: UInt64, _ byte: UInt8) -> UInt64 {
        let difference = word ^ ones &* UInt64(byte)
        return (difference &- ones) & ~difference
    }
}
