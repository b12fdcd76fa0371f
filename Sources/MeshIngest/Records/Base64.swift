import ProtobufWire

/// Standard base64 (RFC 4648, section 4) with padding, over bytes.
///
/// Foundation's decoder works on `Data` and costs several copies per line; a ten-million-line import spends most of its time here.
package enum Base64 {
    private static let invalid: UInt8 = 0xff

    private static let values: [UInt8] = {
        var values = [UInt8](repeating: invalid, count: 256)
        for (value, character) in alphabet.enumerated() { values[Int(character)] = UInt8(value) }
        return values
    }()

    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    /// The bytes that `text` encodes.
    static func decode(_ text: Span<UInt8>) throws(RecordFault) -> [UInt8] {
        let count = text.count
        if count == 0 { return [] }
        guard count % 4 == 0 else { throw RecordFault("base64 of \(count) characters is cut short or has some lost") }
        var padding = 0
        if text[count - 1] == UInt8(ascii: "=") { padding = text[count - 2] == UInt8(ascii: "=") ? 2 : 1 }
        let whole = padding == 0 ? count / 4 : count / 4 - 1
        let table = values.span
        var bad: UInt8 = 0
        var decoded = [UInt8](capacity: count / 4 * 3 - padding) { (output: inout OutputSpan<UInt8>) in
            var index = 0
            for _ in 0..<whole {
                let a = table[Int(text[index])]
                let b = table[Int(text[index &+ 1])]
                let c = table[Int(text[index &+ 2])]
                let d = table[Int(text[index &+ 3])]
                bad |= a | b | c | d
                output.append(a &<< 2 | b &>> 4)
                output.append(b &<< 4 | c &>> 2)
                output.append(c &<< 6 | d)
                index &+= 4
            }
        }
        if padding > 0 {
            let a = table[Int(text[count - 4])]
            let b = table[Int(text[count - 3])]
            bad |= a | b
            decoded.append(a &<< 2 | b &>> 4)
            if padding == 1 {
                let c = table[Int(text[count - 2])]
                bad |= c
                decoded.append(b &<< 4 | c &>> 2)
            }
        }
        // Values are below 64; only the mark of an invalid character has the high bits.
        guard bad < 64 else { throw RecordFault(invalidCharacter(in: text)) }
        return decoded
    }

    package static func text(_ bytes: RawSpan) -> String {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.byteCount + 2) / 3 * 4)
        encode(bytes, to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    /// Appends the base64 of `bytes` to `text`.
    static func encode(_ bytes: RawSpan, to text: inout [UInt8]) {
        let letters = alphabet.span
        var index = 0
        while index + 2 < bytes.byteCount {
            let (a, b, c) = (bytes.byte(at: index), bytes.byte(at: index + 1), bytes.byte(at: index + 2))
            text.append(letters[Int(a >> 2)])
            text.append(letters[Int((a & 3) << 4 | b >> 4)])
            text.append(letters[Int((b & 15) << 2 | c >> 6)])
            text.append(letters[Int(c & 63)])
            index += 3
        }
        guard index < bytes.byteCount else { return }
        let a = bytes.byte(at: index)
        let b = index + 1 < bytes.byteCount ? bytes.byte(at: index + 1) : 0
        text.append(letters[Int(a >> 2)])
        text.append(letters[Int((a & 3) << 4 | b >> 4)])
        text.append(index + 1 < bytes.byteCount ? letters[Int((b & 15) << 2)] : UInt8(ascii: "="))
        text.append(UInt8(ascii: "="))
    }

    private static func invalidCharacter(in text: Span<UInt8>) -> String {
        for index in 0..<text.count where values[Int(text[index])] == invalid {
            return "character \(index + 1) does not belong to base64"
        }
        return "not base64"
    }
}
