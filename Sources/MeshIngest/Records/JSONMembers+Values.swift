extension JSONMembers.Member {
    /// Whether the member's name is `name`. A name written with escapes is not recognised: no writer of our formats uses them.
    func isNamed(_ name: StaticString, in text: Span<UInt8>) -> Bool {
        guard self.name.count == name.utf8CodeUnitCount else { return false }
        return name.withUTF8Buffer { letters in
            for index in 0..<letters.count where unsafe letters[index] != text[self.name.lowerBound + index] { return false }
            return true
        }
    }

    /// The bytes of a string, with escapes decoded; nil for other kinds.
    func stringBytes(in text: Span<UInt8>) throws(RecordFault) -> [UInt8]? {
        guard kind == .string else { return nil }
        let inside = value.lowerBound + 1..<value.upperBound - 1
        if !hasEscapes { return text.bytes(inside) }
        return try unescaped(text, inside)
    }

    /// A string as text, invalid UTF-8 repaired; nil for other kinds.
    func string(in text: Span<UInt8>) throws(RecordFault) -> String? {
        guard let bytes = try stringBytes(in: text) else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// A number that is written as an integer; nil for other kinds, fractions and overflow.
    func integer(in text: Span<UInt8>) -> Int64? {
        guard kind == .number else { return nil }
        var index = value.lowerBound
        let isNegative = text[index] == UInt8(ascii: "-")
        if isNegative { index += 1 }
        var magnitude: Int64 = 0
        while index < value.upperBound {
            let digit = text[index] &- UInt8(ascii: "0")
            guard digit < 10 else { return nil }
            let (scaled, tooBig) = magnitude.multipliedReportingOverflow(by: 10)
            let (sum, overflow) = scaled.addingReportingOverflow(Int64(digit))
            guard !tooBig, !overflow else { return nil }
            magnitude = sum
            index += 1
        }
        return isNegative ? -magnitude : magnitude
    }

    /// Any number; nil for other kinds.
    func double(in text: Span<UInt8>) -> Double? {
        guard kind == .number else { return nil }
        return Double(String(decoding: text.bytes(value), as: UTF8.self))
    }

    /// True or false; nil for other kinds.
    func boolean(in text: Span<UInt8>) -> Bool? {
        guard kind == .boolean else { return nil }
        return text[value.lowerBound] == UInt8(ascii: "t")
    }

    /// The value as written.
    func written(in text: Span<UInt8>) -> [UInt8] { text.bytes(value) }

    private func unescaped(_ text: Span<UInt8>, _ inside: Range<Int>) throws(RecordFault) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(inside.count)
        var index = inside.lowerBound
        while index < inside.upperBound {
            let character = text[index]
            index += 1
            if character != UInt8(ascii: "\\") {
                bytes.append(character)
                continue
            }
            let escape = text[index]
            index += 1
            switch escape {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): bytes.append(escape)
            case UInt8(ascii: "b"): bytes.append(0x08)
            case UInt8(ascii: "f"): bytes.append(0x0c)
            case UInt8(ascii: "n"): bytes.append(0x0a)
            case UInt8(ascii: "r"): bytes.append(0x0d)
            case UInt8(ascii: "t"): bytes.append(0x09)
            case UInt8(ascii: "u"):
                bytes.append(contentsOf: String(try scalar(text, &index, inside.upperBound)).utf8)
            default: throw RecordFault("JSON: unknown escape at \(index)")
            }
        }
        return bytes
    }

    /// The character of `\u` and four hexadecimal digits, or of a pair of surrogates. A lone surrogate is no character and becomes U+FFFD.
    private func scalar(_ text: Span<UInt8>, _ index: inout Int, _ end: Int) throws(RecordFault) -> Unicode.Scalar {
        let replacement: Unicode.Scalar = "\u{fffd}"
        let first = try hexDigits(text, &index, end)
        guard (0xd800..<0xdc00).contains(first) else { return Unicode.Scalar(first) ?? replacement }
        guard index + 6 <= end, text[index] == UInt8(ascii: "\\"), text[index + 1] == UInt8(ascii: "u") else {
            return replacement
        }
        var after = index + 2
        let second = try hexDigits(text, &after, end)
        guard (0xdc00..<0xe000).contains(second) else { return replacement }
        index = after
        return Unicode.Scalar(0x10000 + (first - 0xd800) << 10 + (second - 0xdc00)) ?? replacement
    }

    private func hexDigits(_ text: Span<UInt8>, _ index: inout Int, _ end: Int) throws(RecordFault) -> UInt32 {
        guard index + 4 <= end else { throw RecordFault("JSON: an escape is cut short") }
        var value: UInt32 = 0
        for _ in 0..<4 {
            let character = text[index]
            index += 1
            let digit: UInt8
            switch character {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = character - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = character - UInt8(ascii: "a") + 10
            case UInt8(ascii: "A")...UInt8(ascii: "F"): digit = character - UInt8(ascii: "A") + 10
            default: throw RecordFault("JSON: a bad escape at \(index)")
            }
            value = value << 4 | UInt32(digit)
        }
        return value
    }
}
