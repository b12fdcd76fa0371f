import MeshLedger

extension ColumnReader {
    /// The id of a node that every row has.
    static func node(_ get: @escaping @Sendable (Row) -> UInt32) -> ColumnReader {
        code(isNullable: false, areNamesUnique: true, get) { NodeID.text($0) }
    }

    /// The id of a node; 0 means none.
    static func nodeOrNone(_ get: @escaping @Sendable (Row) -> UInt32) -> ColumnReader {
        code(areNamesUnique: true, get) { $0 == 0 ? nil : NodeID.text($0) }
    }

    /// The id of a node that every row has; a broadcast is `^all`.
    static func addressee(_ get: @escaping @Sendable (Row) -> UInt32) -> ColumnReader {
        code(isNullable: false, areNamesUnique: true, get) { NodeID.addressee($0) }
    }

    /// A Meshtastic enumeration: the value's name, or its number if it has no name.
    static func value(of enumeration: String, _ get: @escaping @Sendable (Row) -> UInt32) -> ColumnReader {
        code(isNullable: false, get) { FieldTable.valueName($0, of: enumeration) }.named(.enumeration(enumeration))
    }

    /// Like `value`; 0 means none.
    static func valueOrNone(of enumeration: String, _ get: @escaping @Sendable (Row) -> UInt32) -> ColumnReader {
        code(get) { $0 == 0 ? nil : FieldTable.valueName($0, of: enumeration) }.named(.enumeration(enumeration))
    }

    /// A text with few distinct values; an empty one means none.
    static func nameOrNone(_ get: @escaping @Sendable (Row) -> String) -> ColumnReader {
        name { row in
            let text = get(row)
            return text.isEmpty ? nil : text
        }
    }

    /// A text; an empty one means none.
    static func textOrNone(_ get: @escaping @Sendable (Row) -> String) -> ColumnReader {
        optionalText { row in
            let text = get(row)
            return text.isEmpty ? nil : text
        }
    }

    /// A number; 0 means none.
    static func positive(_ get: @escaping @Sendable (Row) -> UInt32) -> ColumnReader {
        optional { row in
            let number = get(row)
            return number == 0 ? nil : number
        }
    }
}
