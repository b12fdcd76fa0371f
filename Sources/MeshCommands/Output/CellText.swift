import EventLog
import ProtobufWire

/// Values as bytes of JSON and CSV, without a string for each.
extension CellValue {
    /// JSON. Numbers are exact (the shortest form that reads back); NaN and infinities, which JSON does not have, are null.
    var json: String {
        var text: [UInt8] = []
        appendJSON(to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    func appendJSON(to text: inout [UInt8]) {
        switch self {
        case .null: text += "null".utf8
        case .bool(let value): text += (value ? "true" : "false").utf8
        case .integer(let value): value < 0 ? text += String(value).utf8 : text.append(decimal: UInt64(value))
        case .unsigned(let value): text.append(decimal: value)
        case .double(let value): text += (value.isFinite ? value.description : "null").utf8
        case .float(let value): text += (value.isFinite ? value.description : "null").utf8
        case .text(let value): Self.append(quoted: value, to: &text)
        case .instant(let time):
            text.append(UInt8(ascii: "\""))
            ISO8601.append(microseconds: time.microseconds, to: &text)
            text.append(UInt8(ascii: "\""))
        case .second(let time):
            text.append(UInt8(ascii: "\""))
            text += TimeText.iso(time).utf8
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

    /// A field of CSV: see `CSVText`.
    func appendCSV(to text: inout [UInt8]) {
        switch self {
        case .null: break
        case .unsigned(let value): text.append(decimal: value)
        case .instant(let time): ISO8601.append(microseconds: time.microseconds, to: &text)
        case .second(let time): text += TimeText.iso(time).utf8
        case .bool(let value): text += (value ? "true" : "false").utf8
        case .text(let value): if unsafe !text.append(value, where: CSVText.isPlain) { text += CSVText.field(self).utf8 }
        case .list(let values) where values.allSatisfy(\.isPlainText):
            for (index, value) in values.enumerated() {
                if index > 0 { text.append(UInt8(ascii: " ")) }
                value.appendCSV(to: &text)
            }
        default: text += CSVText.field(self).utf8
        }
    }

    /// Whether it is one field of CSV also as a part of a list.
    private var isPlainText: Bool {
        switch self {
        case .unsigned: true
        case .text(var value): value.withUTF8 { unsafe CSVText.isPlain($0) }
        default: false
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
        unsafe text.allSatisfy { $0 >= 0x20 && $0 < 0x7f && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
    }
}

extension [UInt8] {
    /// Appends the bytes of a text if they are of a kind.
    fileprivate mutating func append(_ value: String, where isWanted: (UnsafeBufferPointer<UInt8>) -> Bool) -> Bool {
        var value = value
        return value.withUTF8 { bytes in
            guard unsafe isWanted(bytes) else { return false }
            unsafe append(contentsOf: bytes)
            return true
        }
    }

    mutating func append(decimal number: UInt64) {
        guard number >= 10 else { return append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number)) }
        var digits = InlineArray<20, UInt8>(repeating: 0)
        var (rest, start) = (number, 20)
        while rest > 0 {
            start -= 1
            digits[start] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        }
        for index in start..<20 { append(digits[index]) }
    }
}
