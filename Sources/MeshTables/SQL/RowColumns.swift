/// The rows of a batch, whose columns are built when they are first read.
struct RowColumns<Row> {
    private(set) var columns: [TableColumn<Row>]
    private var builders: [ColumnBuilder?]
    var rows: [Row] = []

    init(_ columns: [TableColumn<Row>]) {
        self.columns = columns
        builders = Array(repeating: nil, count: columns.count)
    }

    /// Empties the batch for the next rows.
    mutating func removeAll() { rows.removeAll(keepingCapacity: true) }

    /// A column of the rows; nil if there is no such column.
    mutating func load(_ column: Int) -> LoadedColumn? {
        guard columns.indices.contains(column) else { return nil }
        let builder = builders[column] ?? columns[column].reader.makeBuilder()
        builders[column] = builder
        columns[column].reader.read(rows, builder)
        return .of(builder.finish(), columns[column].schema.type)
    }
}
