import MeshLedger
import ViewQuery

extension TableRow where Self: QueryRow {
    /// The columns of the row's declaration, and others.
    ///
    /// - Parameters:
    ///   - first: the names of the columns that come first, in order.
    ///   - last: those of the last ones. Between both are the remaining others, then those of the declaration.
    static func tableColumns(
        first: String = "", last: String = "", and others: [TableColumn<Self>] = []
    ) -> [TableColumn<Self>] {
        var left = others + columns.compactMap { TableColumn(declared: $0) }
        func take(_ names: String) -> [TableColumn<Self>] {
            names.split(separator: " ").compactMap { name in
                left.firstIndex { $0.name == name }.map { left.remove(at: $0) }
            }
        }
        let (first, last) = (take(first), take(last))
        return first + left + last
    }
}

extension TableColumn {
    /// A property as the row's declaration has it in tables; nil if it has not.
    init?(declared column: RowColumn<Row>) {
        guard let form = column.tableForm, let offset = MemoryLayout<Row>.offset(of: column.path),
            let reader = PropertyReader(column, form.values)
        else { return nil }
        self.init(
            column.name.snakeCased, ColumnReader(reader, at: offset), of: column.path,
            unit: form.unit ?? GenericTable.unit(column.kind), meaning: form.meaning)
    }
}

extension PropertyReader {
    /// - Returns: nil for a type that no table shows as it is.
    init?<Row>(_ column: RowColumn<Row>, _ values: TableForm.Values) {
        switch column.valueType {
        case is UInt32.Type: self.init(Self.number(column.kind, values, isNullable: column.isLeftOutIfZero))
        case is UInt64.Type: self.init(values == .unlessZero ? .optional { $0 == 0 ? nil : $0 } : .number { $0 as UInt64 })
        case is UInt8.Type: self.init(.number { UInt32($0 as UInt8) })
        case is Int32.Type: self.init(.number { $0 as Int32 })
        case is Float.Type: self.init(.number { $0 as Float })
        case is Bool.Type: self.init(.number { $0 as Bool })
        case is UInt32?.Type: self.init(.optional { $0 as UInt32? })
        case is Int32?.Type: self.init(.optional { $0 as Int32? })
        case is Float?.Type: self.init(.optional { $0 as Float? })
        case is Bool?.Type: self.init(.optional { $0 as Bool? })
        case is String.Type: self.init(Self.text(values, isNullable: column.isLeftOutIfZero))
        case is [UInt32].Type where column.kind == .node: self.init(.texts { ($0 as [UInt32]).map { NodeID.text($0) } })
        case let type as any CaseIterable.Type:
            guard let reader = Self.enumeration(type) else { return nil }
            self.init(reader)
        default: return nil
        }
    }

    private static func number(
        _ kind: ColumnKind, _ values: TableForm.Values, isNullable: Bool
    ) -> ColumnReader<UInt32> {
        switch (kind, values) {
        case (_, .values(of: let enumeration)): .value(of: enumeration) { $0 }
        case (_, .addressee): .addressee { $0 }
        case (_, .unlessZero): .positive { $0 }
        case (.node, _): isNullable ? .nodeOrNone { $0 } : .node { $0 }
        case (.time, _): .time { $0 }
        case (.hundredths, _): .optional { Position.dilution(hundredths: $0) }
        default: .number { $0 }
        }
    }

    private static func text(_ values: TableForm.Values, isNullable: Bool) -> ColumnReader<String> {
        if values == .name { return .nameOrNone { $0 } }
        return isNullable ? .textOrNone { $0 } : .text { $0 }
    }

    /// Of an enumeration that takes one byte; its values are read as that byte.
    private static func enumeration<Value: CaseIterable>(_ type: Value.Type) -> ColumnReader<UInt8>? {
        guard MemoryLayout<Value>.size == 1 else { return nil }
        var names = [String?](repeating: nil, count: Int(UInt8.max) + 1)
        for value in Value.allCases { names[unsafe withUnsafeBytes(of: value) { unsafe Int($0[0]) }] = "\(value)" }
        let byByte = names
        return .code(isNullable: false, { UInt32($0) }) { byByte[Int(UInt8(truncatingIfNeeded: $0))] }
            .named(.these(Value.allCases.map { "\($0)" }))
    }
}
