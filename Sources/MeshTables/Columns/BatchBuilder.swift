/// Turns rows into batches of columns, in bounded memory.
public final class BatchBuilder<Row> {
    /// The most rows of a batch, and the most bytes that its values may take.
    public static var mostRows: Int { 1 << 16 }
    static var mostBytes: Int { 32 << 20 }
    /// How many rows are read column by column at a time, while they are in the processor's cache.
    static var rowsAtOnce: Int { 512 }

    public let columns: [TableColumn<Row>]
    private let builders: [ColumnBuilder]
    private let take: (ColumnBatch) throws -> Void
    private var waiting: [Row] = []
    private var rowCount = 0

    /// - Parameter take: receives each batch.
    public init(_ columns: [TableColumn<Row>], take: @escaping (ColumnBatch) throws -> Void) {
        self.columns = columns
        self.take = take
        builders = columns.map { $0.reader.makeBuilder() }
        waiting.reserveCapacity(Self.rowsAtOnce)
    }

    /// The approximate memory of the values that are not in a batch yet.
    public var byteCount: Int { waiting.count * MemoryLayout<Row>.stride + builders.reduce(0) { $0 + $1.byteCount } }

    public func append(_ row: Row) throws {
        waiting.append(row)
        if waiting.count >= Self.rowsAtOnce { try read() }
    }

    /// Hands over the remaining rows. More may follow.
    public func finish() throws {
        try read()
        if rowCount > 0 { try endBatch() }
    }

    private func read() throws {
        for (column, builder) in zip(columns, builders) { column.reader.read(waiting, builder) }
        rowCount += waiting.count
        waiting.removeAll(keepingCapacity: true)
        if rowCount >= Self.mostRows || builders.reduce(0, { $0 + $1.byteCount }) >= Self.mostBytes { try endBatch() }
    }

    private func endBatch() throws {
        let batch = ColumnBatch(rowCount: rowCount, columns: builders.map { $0.finish() })
        rowCount = 0
        try take(batch)
    }
}
