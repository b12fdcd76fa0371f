/// The rows of a batch, whose columns are built when they are first read.
struct RowColumns<Row> {
    private(set) var columns: [TableColumn<Row>]
    private var builders: [ColumnBuilder?]
    private var loaded: [LoadedColumn?]
    var rows: [Row] = []

    init(_ columns: [TableColumn<Row>]) {
        self.columns = columns
        builders = Array(repeating: nil, count: columns.count)
        loaded = Array(repeating: nil, count: columns.count)
    }

    /// Empties the batch for the next rows.
    mutating func removeAll() {
        rows.removeAll(keepingCapacity: true)
        for index in loaded.indices { loaded[index] = nil }
    }

    @inline(__always)
    mutating func write(_ column: Int, _ index: Int, to result: SQLResult) {
        guard loaded.indices.contains(column) else { return result.null() }
        (loaded[column] ?? load(column)).write(index, to: result)
    }

    private mutating func load(_ column: Int) -> LoadedColumn {
        let builder = builders[column] ?? columns[column].reader.makeBuilder()
        builders[column] = builder
        columns[column].reader.read(rows, builder)
        let made = LoadedColumn(builder.finish(), columns[column].schema.type)
        loaded[column] = made
        return made
    }
}
