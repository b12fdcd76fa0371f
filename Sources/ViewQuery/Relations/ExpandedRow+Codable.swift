internal import Foundation
internal import ProtobufWire

/// A row with its related rows in a form that can be read back: `{"view":…,"values":[{"name":…,"value":…}],"relations":[{"name":…,"isToOne":…,"rows":[…]}]}`.
extension ExpandedRow: Codable {
    private enum CodingKeys: String, CodingKey {
        case view, values, relations
    }

    private struct Value: Codable {
        let name: String
        let value: JSONTree
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        view = try container.decode(String.self, forKey: .view)
        values = try container.decode([Value].self, forKey: .values).map { ($0.name, $0.value.text) }
        relations = try container.decode([Related].self, forKey: .relations)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(view, forKey: .view)
        try container.encode(values.map { Value(name: $0.name, value: try JSONTree($0.json)) }, forKey: .values)
        try container.encode(relations, forKey: .relations)
    }
}

/// Any JSON value. Objects have their names in order, as `JSONText` writes them.
enum JSONTree: Codable {
    case null
    case bool(Bool)
    case integer(Int64)
    case unsigned(UInt64)
    case number(Double)
    case string(String)
    case array([JSONTree])
    case object([String: JSONTree])

    init(_ text: String) throws { self = try JSONDecoder().decode(JSONTree.self, from: Data(text.utf8)) }

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {  // another type is tried next, here and below
            self = .bool(value)
        } else if let value = try? container.decode(Int64.self) {  // as above
            self = .integer(value)
        } else if let value = try? container.decode(UInt64.self) {  // as above
            self = .unsigned(value)
        } else if let value = try? container.decode(Double.self) {  // as above
            self = .number(value)
        } else if let value = try? container.decode(String.self) {  // as above
            self = .string(value)
        } else if let value = try? container.decode([JSONTree].self) {  // as above
            self = .array(value)
        } else {
            self = .object(try container.decode([String: JSONTree].self))
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .unsigned(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .array(let value): try container.encode(value)
        case .object(let value): try container.encode(value)
        }
    }

    var text: String {
        switch self {
        case .null: "null"
        case .bool(let value): JSONText.text(of: value)
        case .integer(let value): "\(value)"
        case .unsigned(let value): "\(value)"
        case .number(let value): JSONText.text(of: value)
        case .string(let value): JSONText.quoted(value)
        case .array(let values): "[" + values.map(\.text).joined(separator: ",") + "]"
        case .object(let values):
            "{" + values.sorted { $0.key < $1.key }.map { JSONText.quoted($0.key) + ":" + $0.value.text }.joined(separator: ",")
                + "}"
        }
    }
}
