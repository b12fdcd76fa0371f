/// Turns rows into batches of columns, in bounded memory.
public final class BatchBuilder<Row> {
    /// The most rows of a batch, and the most bytes that its values may take.
    public static var mostRows: Int { 1 << 16 }
    static var mostBytes: Int { 32 << 20 }
    /// How many rows are read column by column at a time, while they are in the processor's cache.
    package static var rowsAtOnce: Int { RowParts.size }

    public let columns: [TableColumn<Row>]
    private let builders: [RowBuilder<Row>]
    private let take: (ColumnBatch) throws -> Void
    private var waiting: [Row] = []
    private var rowCount = 0

    /// - Parameter take: receives each batch.
    public convenience init(_ columns: [TableColumn<Row>], take: @escaping (ColumnBatch) throws -> Void) {
        self.init(columns, isReusing: false, take: take)
    }

    /// - Parameter isReusing: whether the memory of a batch is kept for the next one, which saves asking the system for it.
    init(_ columns: [TableColumn<Row>], isReusing: Bool, take: @escaping (ColumnBatch) throws -> Void) {
        self.columns = columns
        self.take = take
        builders = columns.map { $0.reader.makeBuilder() }
        for builder in builders { builder.values.isReused = isReusing }
        waiting.reserveCapacity(Self.rowsAtOnce)
    }

    /// The approximate memory of the values that are not in a batch yet.
    public var byteCount: Int { waiting.count * MemoryLayout<Row>.stride + builders.reduce(0) { $0 + $1.values.byteCount } }

    /// The approximate memory of the dictionaries, which last from batch to batch.
    var dictionaryBytes: Int { builders.reduce(0) { $0 + $1.values.dictionaryBytes } }

    /// Begins the next batch with new dictionaries. No batch may be open.
    func dropDictionaries() { for builder in builders { builder.values.dropDictionary() } }

    /// Adds a row. A full batch is handed over.
    /// - Throws: what `take` throws.
    public func append(_ row: Row) throws {
        waiting.append(row)
        if waiting.count >= Self.rowsAtOnce { try readWaiting() }
    }

    /// Adds rows, best as many as are read at a time.
    package func append(_ rows: [Row]) throws {
        try readWaiting()
        for part in rows.parts { try read(part) }
    }

    /// Hands over the remaining rows. More may follow.
    /// - Throws: what `take` throws.
    public func finish() throws {
        try readWaiting()
        if rowCount > 0 { try endBatch() }
    }

    private func readWaiting() throws {
        try read(waiting)
        waiting.removeAll(keepingCapacity: true)
    }

    private func read(_ rows: [Row]) throws {
        guard !rows.isEmpty else { return }
        for builder in builders { builder.read(rows) }
        rowCount += rows.count
        if rowCount >= Self.mostRows || builders.reduce(0, { $0 + $1.values.byteCount }) >= Self.mostBytes { try endBatch() }
    }

    private func endBatch() throws {
        let batch = ColumnBatch(rowCount: rowCount, columns: builders.map { $0.values.finish() })
        rowCount = 0
        try take(batch)
    }
}
