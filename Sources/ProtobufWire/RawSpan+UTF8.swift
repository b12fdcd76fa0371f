extension RawSpan {
    /// Whether the bytes are UTF-8 according to RFC 3629: no overlong form, no surrogate, nothing above U+10FFFF.
    @inlinable
    public var isUTF8: Bool {
        var offset = 0
        let count = byteCount
        while offset < count {
            if offset &+ 8 <= count, littleEndian64(uncheckedAt: offset) & 0x8080_8080_8080_8080 == 0 {
                offset &+= 8
                continue
            }
            let length = lengthOfScalar(at: offset)
            if length == 0 { return false }
            offset &+= length
        }
        return true
    }

    /// The length of the well-formed sequence at `offset`, which is inside of the bytes; 0 if it is ill-formed.
    @inlinable
    func lengthOfScalar(at offset: Int) -> Int {
        let lead = byte(uncheckedAt: offset)
        if lead < 0x80 { return 1 }
        let length = lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0
        guard length > 0, offset &+ length <= byteCount else { return 0 }
        let second = byte(uncheckedAt: offset &+ 1)
        let lowest: UInt8 = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80
        let highest: UInt8 = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf
        guard second >= lowest, second <= highest else { return 0 }
        if length > 2, byte(uncheckedAt: offset &+ 2) & 0xc0 != 0x80 { return 0 }
        if length > 3, byte(uncheckedAt: offset &+ 3) & 0xc0 != 0x80 { return 0 }
        return length
    }
}
