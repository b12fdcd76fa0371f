/// The rows of a batch, whose columns are built when they are first read.
struct RowColumns<Row> {
    /// The largest dictionary, in bytes, that the next statement goes on with.
    private static var mostRemembered: Int { 1 << 16 }

    private(set) var columns: [TableColumn<Row>]
    private var builders: [RowBuilder<Row>?]
    /// The columns that have one.
    private var used: [Int] = []
    var rows: [Row] = []

    init(_ columns: [TableColumn<Row>]) {
        self.columns = columns
        builders = Array(repeating: nil, count: columns.count)
    }

    /// Empties the batch for the next rows.
    mutating func removeAll() { rows.removeAll(keepingCapacity: true) }

    /// Keeps only what the next statement can use.
    mutating func rest() {
        removeAll()
        for (place, column) in used.enumerated().reversed() {
            guard let builder = builders[column], builder.values.dictionaryBytes > Self.mostRemembered else { continue }
            builders[column] = nil
            used.remove(at: place)
        }
    }

    /// A column of the rows; nil if there is no such column.
    mutating func load(_ column: Int) -> LoadedColumn? {
        guard column >= 0, column < builders.count else { return nil }
        let builder = builders[column] ?? makeBuilder(column)
        builder.read(rows)
        return .of(builder.values.finish(), columns[column].schema.type)
    }

    private mutating func makeBuilder(_ column: Int) -> RowBuilder<Row> {
        let builder = columns[column].reader.makeBuilder()
        builders[column] = builder
        used.append(column)
        return builder
    }
}
