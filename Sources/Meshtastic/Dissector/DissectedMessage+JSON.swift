internal import Foundation
internal import ProtobufWire

extension DissectedMessage {
    /// The message as official tools print it: the names of the `.proto` files, enum values by name, bytes in base64, 64-bit numbers as
    /// texts; without zeros of fields that cannot be told from absent ones. If a field occurs more than once, the last value counts; if a message does, all of its fields count.
    ///
    /// What official tools do not print is in members with names that no field has: `@unknown` (a list of number, wire type and value),
    /// `@failure` and `@unread` where reading stopped, `NAME@content` for the content of a field of plain bytes, `NAME@raw` for a repaired text's bytes.
    public var json: JSONValue {
        var members: [JSONValue.Member] = []
        var unknown: [JSONValue] = []
        for field in fields {
            guard let description = field.description else {
                unknown.append(field.unknownJSON)
                continue
            }
            if description.presence == .implicit, field.value.isDefault {
                members.removeAll { $0.name == description.name }
                continue
            }
            add(field.value.json(isLong: description.kind.isLong), of: description, to: &members)
            if let raw = field.value.rawText { set("\(description.name)@raw", .string(Self.base64(raw)), in: &members) }
            if let content = field.content {
                set("\(description.name)@content", content.value.json, in: &members)
                if !content.note.isEmpty { set("\(description.name)@note", .string(content.note), in: &members) }
            }
        }
        if !unknown.isEmpty { members.append(.init("@unknown", .array(unknown))) }
        if let failure {
            members.append(.init("@failure", .string(failure.description)))
            members.append(.init("@unread", .string(Self.base64(unread))))
        }
        return .object(members)
    }

    private func add(_ value: JSONValue, of description: FieldDescription, to members: inout [JSONValue.Member]) {
        let name = description.name
        guard let place = members.firstIndex(where: { $0.name == name }) else {
            let isOne = description.isRepeated && value.asArray == nil
            members.append(.init(name, isOne ? .array([value]) : value))
            return
        }
        if description.isRepeated {
            members[place].value = .array((members[place].value.asArray ?? []) + (value.asArray ?? [value]))
        } else if case .object(let old) = members[place].value, case .object(let new) = value {
            members[place].value = .object(old.filter { member in !new.contains { $0.name == member.name } } + new)
        } else {
            members[place].value = value
        }
    }

    private func set(_ name: String, _ value: JSONValue, in members: inout [JSONValue.Member]) {
        members.removeAll { $0.name == name }
        members.append(.init(name, value))
    }

    static func base64(_ bytes: [UInt8]) -> String { Data(bytes).base64EncodedString() }
}

extension DissectedField {
    fileprivate var unknownJSON: JSONValue {
        .object([
            .init("number", .integer(number)), .init("type", .string(wireType.name)), .init("value", value.json),
        ])
    }
}

extension DissectedValue {
    /// See `DissectedMessage.json`; numbers too long for every reader of JSON become texts.
    public var json: JSONValue { json(isLong: false) }

    /// - Parameter isLong: whether the field has 64 bits, so that its numbers are texts.
    fileprivate func json(isLong: Bool) -> JSONValue {
        switch self {
        case .bool(let value): .bool(value)
        case .signed(let value): isLong || Int32(exactly: value) == nil ? .string(String(value)) : .integer(value)
        case .unsigned(let value): isLong || UInt32(exactly: value) == nil ? .string(String(value)) : .integer(value)
        case .float(let value): .float(value)
        case .double(let value): .double(value)
        case .text(let text, _): .string(text)
        case .bytes(let bytes), .unknownBytes(let bytes): .string(DissectedMessage.base64(bytes))
        case .enumeration(let number, let name): name.map(JSONValue.string) ?? .integer(number)
        case .message(let message): message.json
        case .list(let values): .array(values.map { $0.json(isLong: isLong) })
        case .unknownNumber(let value): .string(String(value))
        }
    }

    /// Whether it is what a field has that is not sent.
    fileprivate var isDefault: Bool {
        switch self {
        case .bool(let value): !value
        case .signed(let value): value == 0
        case .unsigned(let value): value == 0
        case .float(let value): value.bitPattern == 0
        case .double(let value): value.bitPattern == 0
        case .text(let text, let raw): text.isEmpty && raw == nil
        case .bytes(let bytes): bytes.isEmpty
        case .enumeration(let number, _): number == 0
        case .message, .list, .unknownNumber, .unknownBytes: false
        }
    }

    fileprivate var rawText: [UInt8]? {
        if case .text(_, let raw) = self { raw } else { nil }
    }
}

extension FieldKind {
    /// Whether numbers of this kind have 64 bits.
    fileprivate var isLong: Bool {
        switch self {
        case .int64, .uint64, .sint64, .fixed64, .sfixed64: true
        default: false
        }
    }
}
