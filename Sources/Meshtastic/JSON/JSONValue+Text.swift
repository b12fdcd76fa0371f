internal import ProtobufWire

extension JSONValue: CustomStringConvertible {
    /// On one line, without spaces.
    public var description: String {
        var text = ""
        write(to: &text)
        return text
    }

    private func write(to text: inout String) {
        switch self {
        case .null: text += "null"
        case .bool(let value): text += value ? "true" : "false"
        case .number(let digits): text += digits
        case .string(let string): text += JSONText.quoted(string)
        case .array(let values):
            Self.write(values, "[", "]", to: &text) { value, text in value.write(to: &text) }
        case .object(let members):
            Self.write(members, "{", "}", to: &text) { member, text in
                text += JSONText.quoted(member.name) + ":"
                member.value.write(to: &text)
            }
        }
    }

    private static func write<Item>(
        _ items: [Item], _ open: String, _ close: String, to text: inout String, _ body: (Item, inout String) -> Void
    ) {
        text += open
        for (place, item) in items.enumerated() {
            if place > 0 { text += "," }
            body(item, &text)
        }
        text += close
    }
}
