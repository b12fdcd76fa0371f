/// The formats that store columns.
public enum TableFormat: String, Sendable, CaseIterable {
    /// Arrow's IPC stream, or its file.
    case arrow
    case parquet
}

/// Writes the rows of one table to one output.
public final class TableExport<Row> {
    private let builder: BatchBuilder<Row>
    private let writer: any BatchWriter
    private var failure: (any Error)?

    /// - Parameter isFile: whether Arrow is written as a file, with a footer.
    public init(
        _ name: String, _ columns: [TableColumn<Row>], format: TableFormat, isFile: Bool, to output: any ByteOutput
    ) throws {
        let schema = TableSchema(name: name, columns: columns.map(\.schema))
        let writer: any BatchWriter =
            switch format {
            case .arrow: try ArrowWriter(schema, to: output, isFile: isFile)
            case .parquet: try ParquetWriter(schema, to: output)
            }
        self.writer = writer
        builder = BatchBuilder(columns) { try writer.write($0) }
    }

    /// Adds a row; `finish` throws if a row failed.
    public func write(_ row: Row) {
        guard failure == nil else { return }
        do { try builder.append(row) } catch { failure = error }
    }

    public func finish() throws {
        if let failure { throw failure }
        try builder.finish()
        try writer.finish()
    }
}
