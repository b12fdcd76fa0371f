internal import EventLog
internal import MeshLedger
internal import Meshtastic
internal import ViewQuery

extension ColumnMatch {
    /// How a table column that shows a property is compared; nil if the property's stored numbers cannot find its values.
    init?<Row: QueryRow>(_ column: TableColumn<Row>, showing property: RowColumn<Row>) {
        guard let bounds = property.bounds else { return nil }
        switch column.schema.type {
        case .dictionary where property.kind == .node: self.init(node: bounds, text: column.reader.codeText)
        case .dictionary, .utf8:
            let isName = property.valueType is any CaseIterable.Type
            guard isName || property.valueType == String.self else { return nil }
            self.init(bounds: bounds, isOrdered: false) { constant in
                if case .text(let text) = constant { .constant(.text(text)) } else { .unknown }
            }
        case .bool, .int32, .int64, .uint32, .uint64, .seconds:
            guard property.valueType != String.self, !(property.valueType is any CaseIterable.Type) else { return nil }
            self.init(numbers: bounds)
        case .float32, .float64, .json, .binary, .microseconds, .list: return nil
        }
    }

    /// SQLite itself compares numbers with texts that look like numbers.
    private init(numbers bounds: ColumnBounds) {
        self.init(bounds: bounds, isOrdered: bounds.isComparable) { constant in
            switch constant {
            case .integer(let number): .constant(.integer(number))
            case .real(let number): .constant(.real(number))
            case .text, .bytes, .null: .unknown
            }
        }
    }

    /// Ids have eight digits, so they sort like their numbers.
    ///
    /// - Parameter text: the text of a number in this column, which no other value equals; nil if that is not known.
    private init(node bounds: ColumnBounds, text: (@Sendable (UInt32) -> String?)?) {
        let points = ColumnBounds(isComparable: false) { test, constant in test == .equal ? bounds.numbers(test, constant) : nil }
        let isExact = text != nil && bounds.numbers(.equal, .integer(1)) != nil
        self.init(bounds: points, isOrdered: bounds.isComparable, isExact: isExact) { constant in
            guard case .text(let typed) = constant else { return .nothing }
            guard let number = NodeID.parse(typed), text.map({ $0(number) == typed }) ?? true else { return .nothing }
            return .constant(.integer(Int64(number)))
        }
    }
}

extension TableColumn where Row: QueryRow {
    /// The row column that has its value; nil if none has.
    var shown: Int? { isProperty ? properties.first.flatMap(Self.place) : nil }

    /// The row columns that it needs; nil if that is not declared.
    var needed: [Int]? {
        let places = properties.compactMap(Self.place)
        return places.isEmpty || places.count < properties.count ? nil : places
    }

    private static func place(_ property: PartialKeyPath<Row>) -> Int? { Row.columns.firstIndex { $0.isOf(property) } }
}
