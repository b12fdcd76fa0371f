extension QueryRow {
    /// The layout of the rows, one line for each part of the key and each stored property; different layouts have different texts.
    ///
    /// Properties of rows that are stored by their columns are listed by number, the others by name and type.
    public static var layout: String {
        var (keys, fields, others): ([String], [(number: UInt32, line: String)], [String]) = ([], [], [])
        for column in columns where !column.traits.isComputed {
            if column.isKey {
                keys.append("key \(column.name) \(column.keyWidths.map(String.init).joined(separator: "."))")
            } else if let field = column.traits.field {
                fields.append((field.number, "\(field.number) \(column.name) \(field.layout)"))
            } else if !(self is any FieldRow.Type) {
                others.append("\(column.name) \(column.valueType)")
            }
        }
        let lines = keys + fields.sorted { $0.number < $1.number }.map(\.line) + others.sorted()
        return (["table \(table)"] + lines).joined(separator: "\n")
    }
}
