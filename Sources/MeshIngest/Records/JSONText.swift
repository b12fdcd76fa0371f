/// Writes JSON strings.
enum JSONText {
    static func append(_ string: String, to text: inout [UInt8]) {
        text.append(UInt8(ascii: "\""))
        for byte in string.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                text.append(UInt8(ascii: "\\"))
                text.append(byte)
            case 0..<0x20:
                let hex = String(byte, radix: 16)
                text.append(contentsOf: "\\u\(String(repeating: "0", count: 4 - hex.utf8.count))\(hex)".utf8)
            default: text.append(byte)
            }
        }
        text.append(UInt8(ascii: "\""))
    }
}
