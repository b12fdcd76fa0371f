import EventLog
import MeshTables

extension CellValue {
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
        case .text(let value):
            if unsafe !text.append(value, where: CSVText.isPlain) {
                appendQuoted(to: &text) { if !CSVText.isFormula(value) { $0 += value.utf8 } }
            }
        case .list(let values) where values.allSatisfy(\.isPlainText):
            for (index, value) in values.enumerated() {
                if index > 0 { text.append(UInt8(ascii: " ")) }
                value.appendCSV(to: &text)
            }
        case .list: text += CSVText.field(self).utf8
        case .object:
            appendQuoted(to: &text, appendJSON)
        }
    }

    /// Appends what `append` does, as a field, if that is printable ASCII; otherwise, or if it appends nothing, the field that the whole value is.
    private func appendQuoted(to text: inout [UInt8], _ append: (inout [UInt8]) -> Void) {
        let start = text.count
        append(&text)
        if text.count == start || !text.quote(from: start) {
            text.removeSubrange(start...)
            text += CSVText.field(self).utf8
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
}

extension [UInt8] {
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
}
