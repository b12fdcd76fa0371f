internal import ProtobufWire

/// The text form of node numbers: `!` and eight lower-case hex digits.
public enum NodeID {
    /// Everyone.
    public static let broadcast: UInt32 = 0xffff_ffff
    /// How `broadcast` is written.
    package static let everyone = "^all"

    public static func text(_ number: UInt32) -> String {
        // Nine bytes fit into the string itself: nothing is allocated.
        unsafe String(unsafeUninitializedCapacity: 9) { room in
            unsafe room[0] = UInt8(ascii: "!")
            for place in 1...8 {
                let digit = UInt8(truncatingIfNeeded: number >> UInt32(32 - 4 * place)) & 15
                unsafe room[place] = digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") - 10 + digit
            }
            return 9
        }
    }

    /// The number in a text: `!` and one to eight hex digits of either case, or `^all`. Nil for anything else.
    public static func parse(_ text: some StringProtocol) -> UInt32? {
        let text = String(text)
        return unsafe text.utf8.elementsEqual(everyone.utf8) ? broadcast : number(text.utf8.span.bytes)
    }

    /// Like `parse`, without a string; 0 for anything but `!` and one to eight hex digits.
    @inline(__always)
    package static func parse(_ bytes: RawSpan) -> UInt32 { number(bytes) ?? 0 }

    @inline(__always)
    private static func number(_ bytes: RawSpan) -> UInt32? {
        guard bytes.byteCount >= 2, bytes.byteCount <= 9, bytes.byte(uncheckedAt: 0) == UInt8(ascii: "!") else { return nil }
        var number: UInt32 = 0
        for offset in 1..<bytes.byteCount {
            guard let value = hexValue(bytes.byte(uncheckedAt: offset)) else { return nil }
            number = number << 4 | value
        }
        return number
    }

    @inline(__always)
    private static func hexValue(_ digit: UInt8) -> UInt32? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(digit &- UInt8(ascii: "0"))
        case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt32(digit &- UInt8(ascii: "a") &+ 10)
        case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt32(digit &- UInt8(ascii: "A") &+ 10)
        default: nil
        }
    }
}
