/// Texts and numbers as bytes at the end of a line.
extension [UInt8] {
    /// Appends the bytes of a text if they are of a kind.
    package mutating func append(_ value: String, where isWanted: (UnsafeBufferPointer<UInt8>) -> Bool) -> Bool {
        var value = value
        return value.withUTF8 { bytes in
            guard unsafe isWanted(bytes) else { return false }
            unsafe append(contentsOf: bytes)
            return true
        }
    }

    package mutating func append(ascii text: StaticString) {
        unsafe append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    package mutating func append(bytesOf text: String) {
        var text = text
        text.withUTF8 { unsafe append(contentsOf: $0) }
    }

    package mutating func append(decimal number: Int64) {
        if number < 0 { append(UInt8(ascii: "-")) }
        append(decimal: number.magnitude)
    }

    package mutating func append(decimal number: UInt64) {
        guard number >= 10 else { return append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number)) }
        var digits = InlineArray<20, UInt8>(repeating: 0)
        var (rest, start) = (number, 20)
        while rest > 0 {
            start -= 1
            digits[start] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        }
        unsafe digits.span.extracting(start..<20).withUnsafeBufferPointer { unsafe append(contentsOf: $0) }
    }
}
