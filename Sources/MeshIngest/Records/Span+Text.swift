extension Span<UInt8> {
    /// A copy of the bytes in `range`.
    func bytes(_ range: Range<Int>) -> [UInt8] {
        let part = extracting(range)
        return [UInt8](capacity: part.count) { (output: inout OutputSpan<UInt8>) in
            for index in 0..<part.count { output.append(part[index]) }
        }
    }

    /// `range` without spaces, tabs and carriage returns at its ends, and without a byte order mark in front.
    func trimmed(_ range: Range<Int>) -> Range<Int> {
        var (start, end) = (range.lowerBound, range.upperBound)
        if end - start >= 3, self[start] == 0xef, self[start + 1] == 0xbb, self[start + 2] == 0xbf { start += 3 }
        while start < end, Self.isBlank(self[start]) { start += 1 }
        while end > start, Self.isBlank(self[end - 1]) { end -= 1 }
        return start..<end
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0d }

    /// The first place of `byte` at or after `start`.
    func firstIndex(of byte: UInt8, from start: Int) -> Int? {
        var index = start
        while index < count {
            if self[index] == byte { return index }
            index &+= 1
        }
        return nil
    }
}
