/// Reads one property of rows, at its place in them. The loops are specialised for the property's type, whatever the rows are.
struct PropertyReader: Sendable {
    let type: ColumnType
    let isNullable: Bool
    let names: KnownNames?
    let codeText: (@Sendable (UInt32) -> String?)?
    /// Both receive where the property begins in each row.
    let cell: @Sendable (RowsInMemory<UInt8>) -> CellValue
    let makeBuilder: @Sendable () -> RowBuilder<UInt8>

    /// - Parameter reader: of the values themselves.
    init<Value>(_ reader: ColumnReader<Value>) {
        type = reader.type
        isNullable = reader.isNullable
        names = reader.names
        codeText = reader.codeText
        cell = { reader.cell($0.property(Value.self, at: 0)[0]) }
        makeBuilder = {
            let builder = reader.makeBuilder()
            return RowBuilder(values: builder.values) { builder.readInMemory($0.property(Value.self, at: 0)) }
        }
    }
}
