import EventLog
import ProtobufWire

/// Values as bytes of JSON, without a string for each.
extension CellValue {
    /// JSON. Numbers are exact (the shortest form that reads back); NaN and infinities, which JSON does not have, are null.
    package var json: String {
        var text: [UInt8] = []
        appendJSON(to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    package func appendJSON(to text: inout [UInt8]) {
        switch self {
        case .null: text.append(ascii: "null")
        case .bool(let value): text.append(ascii: value ? "true" : "false")
        case .integer(let value): text.append(decimal: value)
        case .unsigned(let value): text.append(decimal: value)
        case .double(let value): value.isFinite ? text.append(bytesOf: value.description) : text.append(ascii: "null")
        case .float(let value): value.isFinite ? text.append(bytesOf: value.description) : text.append(ascii: "null")
        case .text(let value): Self.append(quoted: value, to: &text)
        case .instant(let time):
            text.append(UInt8(ascii: "\""))
            ISO8601.append(microseconds: time.microseconds, to: &text)
            text.append(UInt8(ascii: "\""))
        case .second(let time):
            text.append(UInt8(ascii: "\""))
            ISO8601.append(seconds: time, to: &text)
            text.append(UInt8(ascii: "\""))
        case .list(let values):
            text.append(UInt8(ascii: "["))
            for (index, value) in values.enumerated() {
                if index > 0 { text.append(UInt8(ascii: ",")) }
                value.appendJSON(to: &text)
            }
            text.append(UInt8(ascii: "]"))
        case .object(let members):
            text.append(UInt8(ascii: "{"))
            for (index, member) in members.enumerated() {
                if index > 0 { text.append(UInt8(ascii: ",")) }
                Self.append(quoted: member.name, to: &text)
                text.append(UInt8(ascii: ":"))
                member.value.appendJSON(to: &text)
            }
            text.append(UInt8(ascii: "}"))
        }
    }

    private static func append(quoted value: String, to text: inout [UInt8]) {
        text.append(UInt8(ascii: "\""))
        if unsafe text.append(value, where: isPlain) {
            text.append(UInt8(ascii: "\""))
        } else {
            text.removeLast()
            text += JSONText.quoted(value).utf8
        }
    }

    private static func isPlain(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        unsafe PrintableText.isPrintable(text, without: UInt8(ascii: "\""), UInt8(ascii: "\\"))
    }
}
