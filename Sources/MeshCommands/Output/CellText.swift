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

    /// A field of CSV: see `CSVText`.
    func appendCSV(to text: inout [UInt8]) {
        switch self {
        case .null: break
        case .integer(let value): text.append(decimal: value)
        case .unsigned(let value): text.append(decimal: value)
        case .double(let value): text.append(bytesOf: value.description)
        case .float(let value): text.append(bytesOf: value.description)
        case .instant(let time): ISO8601.append(microseconds: time.microseconds, to: &text)
        case .second(let time): ISO8601.append(seconds: time, to: &text)
        case .bool(let value): text.append(ascii: value ? "true" : "false")
        case .text(let value): if unsafe !text.append(value, where: CSVText.isPlain) { text += CSVText.field(self).utf8 }
        case .list(let values) where values.allSatisfy(\.isPlainText):
            for (index, value) in values.enumerated() {
                if index > 0 { text.append(UInt8(ascii: " ")) }
                value.appendCSV(to: &text)
            }
        case .list: text += CSVText.field(self).utf8
        case .object:
            let start = text.count
            appendJSON(to: &text)
            if !text.quote(from: start) {
                text.removeSubrange(start...)
                text += CSVText.field(self).utf8
            }
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
        unsafe PrintableText.isPrintable(text, without: UInt8(ascii: "\""), UInt8(ascii: "\\"))
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

    /// Quotes the bytes from `start` to the end as a field of CSV if they are printable ASCII; they begin with no sign of a formula.
    /// - Returns: whether they were.
    fileprivate mutating func quote(from start: Int) -> Bool {
        var (quotes, needsQuotes) = (0, false)
        for index in start..<count {
            let byte = self[index]
            guard byte >= 0x20, byte < 0x7f else { return false }
            if byte == UInt8(ascii: "\"") { quotes += 1 }
            needsQuotes = needsQuotes || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: ",")
        }
        guard needsQuotes else { return true }
        var (from, to) = (count - 1, count + quotes)
        append(contentsOf: repeatElement(UInt8(ascii: "\""), count: quotes + 2))
        while from >= start {
            self[to] = self[from]
            to -= 1
            if self[from] == UInt8(ascii: "\"") {
                self[to] = UInt8(ascii: "\"")
                to -= 1
            }
            from -= 1
        }
        self[start] = UInt8(ascii: "\"")
        return true
    }

    fileprivate mutating func append(ascii text: StaticString) {
        unsafe append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    fileprivate mutating func append(bytesOf text: String) {
        var text = text
        text.withUTF8 { unsafe append(contentsOf: $0) }
    }

    mutating func append(decimal number: Int64) {
        if number < 0 { append(UInt8(ascii: "-")) }
        append(decimal: number.magnitude)
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
        unsafe digits.span.extracting(start..<20).withUnsafeBufferPointer { unsafe append(contentsOf: $0) }
    }
}
