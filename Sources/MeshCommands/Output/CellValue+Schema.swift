import Meshtastic

extension CellValue {
    /// Numbers are read as numbers where 64 bits hold them.
    init(_ json: JSONValue) {
        switch json {
        case .null: self = .null
        case .bool(let value): self = .bool(value)
        case .number(let digits):
            if let whole = Int64(digits) {
                self = .integer(whole)
            } else {
                self = Double(digits).map { .double($0) } ?? .text(digits)
            }
        case .string(let text): self = .text(text)
        case .array(let values): self = .list(values.map { CellValue($0) })
        case .object(let members): self = .object(members.map { CellMember(name: $0.name, value: CellValue($0.value)) })
        }
    }

    /// The name of an enum's value, or its number if the schema has no name.
    static func name(_ number: UInt32, of enumeration: String) -> CellValue {
        let name = FieldTable.standard.enumeration(named: enumeration).flatMap { table in
            Int32(exactly: number).flatMap(table.name(of:))
        }
        return .text(name ?? String(number))
    }

    /// A node's id; nothing for 0.
    static func node(_ number: UInt32) -> CellValue { number == 0 ? .null : .text(NodeID.text(number)) }

    static func float(_ value: Float?) -> CellValue { value.map { .float($0) } ?? .null }

    /// For tables: like `wifi=12 ble=3`, nested ones in braces.
    var summary: String {
        switch self {
        case .object(let members): members.map { "\($0.name)=\($0.value.braced)" }.joined(separator: " ")
        case .list(let values): values.map(\.braced).joined(separator: " ")
        default: plain
        }
    }

    private var braced: String {
        switch self {
        case .object, .list: "{\(summary)}"
        default: plain
        }
    }
}
