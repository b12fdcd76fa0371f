internal import ProtobufWire

extension JSONValue: CustomStringConvertible {
    /// On one line, without spaces.
    public var description: String {
        var text = ""
        write(to: &text, indent: nil)
        return text
    }

    /// On many lines, indented by two spaces.
    public var prettyText: String {
        var text = ""
        write(to: &text, indent: 0)
        return text
    }

    private func write(to text: inout String, indent: Int?) {
        switch self {
        case .null: text += "null"
        case .bool(let value): text += value ? "true" : "false"
        case .number(let digits): text += digits
        case .string(let string): text += JSONText.quoted(string)
        case .array(let values):
            Self.write(values, "[", "]", to: &text, indent: indent) { value, text, indent in
                value.write(to: &text, indent: indent)
            }
        case .object(let members):
            Self.write(members, "{", "}", to: &text, indent: indent) { member, text, indent in
                text += JSONText.quoted(member.name)
                text += indent == nil ? ":" : ": "
                member.value.write(to: &text, indent: indent)
            }
        }
    }

    private static func write<Item>(
        _ items: [Item], _ open: String, _ close: String, to text: inout String, indent: Int?,
        _ body: (Item, inout String, Int?) -> Void
    ) {
        let inner = indent.map { $0 + 2 }
        text += open
        for (place, item) in items.enumerated() {
            if place > 0 { text += "," }
            if let inner { text += "\n" + String(repeating: " ", count: inner) }
            body(item, &text, inner)
        }
        if let indent, !items.isEmpty { text += "\n" + String(repeating: " ", count: indent) }
        text += close
    }
}
