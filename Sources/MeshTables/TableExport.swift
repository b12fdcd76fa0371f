import Projections

/// The formats that store columns.
public enum TableFormat: String, Sendable, CaseIterable {
    /// Arrow's IPC stream, or its file.
    case arrow
    case parquet
}

/// Writes the rows of one table to one output: another thread makes columns of them, while the caller's finds the next ones.
public final class TableExport<Row> {
    private let builder: BatchBuilder<Row>
    private let writer: any BatchWriter
    private let behind = WorkBehind()
    private var rows: [Row] = []
    private let failure = Failure()
    /// Touched only by the work behind, and after it.
    private final class Failure {
        var error: (any Error)?
    }

    /// - Parameter isFile: whether Arrow is written as a file, with a footer.
    /// - Throws: errors of the output.
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
        builder = BatchBuilder(columns, isReusing: true) { try writer.write($0) }
    }

    deinit { behind.wait() }

    /// Adds a row; `finish` throws if a row failed.
    public func write(_ row: Row) {
        rows.append(row)
        if rows.count == RowParts.size { handOver() }
    }

    /// Adds rows. Columns of them are made at once: what finds the rows does it on another thread.
    package func write(_ rows: [Row]) {
        settle()
        guard failure.error == nil else { return }
        do { try builder.append(rows) } catch { failure.error = error }
    }

    private func handOver() {
        guard !rows.isEmpty else { return }
        let (part, builder, failure) = (rows, builder, failure)
        rows = []
        behind.add {
            guard failure.error == nil else { return }
            do { try builder.append(part) } catch { failure.error = error }
        }
    }

    /// Waits until all rows so far have been read.
    func settle() {
        handOver()
        behind.wait()
    }

    /// Writes the remaining rows and the end of the format.
    /// - Throws: the first error of a row that was added before, what the format cannot store, and errors of the output.
    public func finish() throws {
        settle()
        if let error = failure.error { throw error }
        try builder.finish()
        try writer.finish()
    }
}
