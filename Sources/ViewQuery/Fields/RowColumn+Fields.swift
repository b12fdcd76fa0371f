internal import ProtobufWire

extension RowColumn where Row: FieldRow {
    /// A property that is stored under a number, which is never used again for another one.
    public init<Value: RowValue>(
        _ number: UInt32, _ name: String, _ keyPath: any WritableKeyPath<Row, Value> & Sendable, _ kind: ColumnKind = .plain
    ) {
        let property = StoredProperty(keyPath)
        self.init(name, keyPath, get: property.get)
        let writesBlank = !Row()[keyPath: keyPath].isBlank && Value.blank != nil
        traits.kind = kind
        traits.field = RowField(
            number: number, layout: Value.layout,
            write: { row, writer in
                let value = property.get(row)
                guard value.isBlank else { return value.write(number, to: &writer) }
                guard writesBlank else { return }
                // An empty group marks a blank value whose default is not blank.
                writer.tag(number, .startGroup)
                writer.tag(number, .endGroup)
            },
            take: { (row, field, reader, isFirst) throws(WireError) in
                try property.change(&row) { (value) throws(WireError) in
                    if field.type == .startGroup, let blank = Value.blank {
                        value = blank
                    } else {
                        try value.take(field, reader, isFirst: isFirst)
                    }
                }
            })
    }

    /// A property that is stored under a number by a custom codec.
    public init<Value: Sendable>(
        _ number: UInt32, _ name: String, _ keyPath: any WritableKeyPath<Row, Value> & Sendable, codec: RowCodec<Value>,
        _ kind: ColumnKind = .plain
    ) {
        let property = StoredProperty(keyPath)
        self.init(name, keyPath, get: property.get)
        traits.kind = kind
        traits.field = RowField(
            number: number, layout: codec.name,
            write: { row, writer in writer.bytes(number, codec.encode(property.get(row))) },
            take: { (row, field, reader, _) throws(WireError) in
                guard field.type == .lengthDelimited, let value = codec.decode(reader.bytes(field).asArray) else { return }
                row[keyPath: keyPath] = value
            })
    }

    /// A property of the key. Key columns come first.
    public init<Value: RowKey>(
        key name: String, _ keyPath: any WritableKeyPath<Row, Value> & Sendable, _ kind: ColumnKind = .plain
    ) {
        let property = StoredProperty(keyPath)
        self.init(key: name, keyPath, widths: [Value.keyWidth], numbers: { [$0.keyNumber] }, get: property.get)
        code = ColumnCode(widths: [Value.keyWidth], isOrdered: true) { ($0 as? Value).map { [$0.keyNumber] } }
        traits.kind = kind
        traits.keyPart = RowKeyPart(keyPath, property.get)
        traits.setKey = { numbers, row in
            guard let number = numbers.first, let value = Value(keyNumber: number) else { return false }
            property.change(&row) { $0 = value }
            return true
        }
    }

    /// A property that is computed from others: it can be queried and displayed, but is not stored.
    public init<Value: Sendable>(
        computed name: String, _ keyPath: any KeyPath<Row, Value> & Sendable, _ kind: ColumnKind = .plain
    ) {
        self.init(name, keyPath, get: { $0[keyPath: keyPath] })
        traits.kind = kind
        traits.isComputed = true
    }
}
