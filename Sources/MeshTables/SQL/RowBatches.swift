internal import LMDB
internal import MeshLedger
internal import Projections
internal import Synchronization
internal import ViewQuery

/// A view as of one point in time. LMDB permits one thread at a time to use its transaction.
///
/// Synchronization: the lock is held while the transaction is used.
final class SQLView: @unchecked Sendable {
    private let read: ViewRead
    private let lock = Mutex(())

    init(_ read: ViewRead) { self.read = read }

    func use(_ body: (ViewStore, borrowing ReadTransaction) throws -> Void) throws {
        var failure: (any Error)?
        lock.withLock { _ in
            do { try body(read.store, read.transaction) } catch { failure = error }
        }
        if let failure { throw failure }
    }

    func checkpoint() throws -> UInt64 {
        var sequence: UInt64 = 0
        try use { store, transaction in sequence = try store.checkpoint(in: transaction).sequence }
        return sequence
    }
}

/// The rows of a walk, some at a time. On a long walk another thread reads the next ones meanwhile.
struct RowBatches<Row: QueryRow> {
    private struct Batch: Sendable {
        var rows: [Row] = []
        /// Those of the rows, if they are wanted.
        var keys: [[UInt8]] = []
        var isLast = false
    }

    /// What the other thread reads.
    ///
    /// Synchronization: only the work that reads ahead uses it, and the cursor's thread when no such work is under way.
    private final class Walk: @unchecked Sendable {
        private var reading: Reading
        /// Rows whose memory is used again.
        var used: [Row] = []

        init(_ reading: Reading) { self.reading = reading }

        func next(_ most: Int) throws -> Batch {
            var batch = Batch()
            swap(&batch.rows, &used)
            batch.rows.removeAll(keepingCapacity: true)
            let start = reading.byteCount
            repeat {
                batch.isLast = try reading.next(most, into: &batch.rows, keys: &batch.keys)
            } while !batch.isLast && batch.rows.count < rowsAhead && reading.byteCount - start < mostBytes
            return batch
        }
    }

    private struct Reading {
        let view: SQLView
        var pull: RowPull<Row>
        let readsKeys: Bool

        var byteCount: Int { pull.byteCount }

        mutating func next(_ most: Int, into rows: inout [Row], keys: inout [[UInt8]]) throws -> Bool {
            try view.use { store, transaction in
                if readsKeys {
                    try pull.read(store, transaction, most: most, into: &rows, keys: &keys)
                } else {
                    try pull.read(store, transaction, most: most, into: &rows)
                }
            }
            return pull.isAtEnd
        }
    }

    /// How much is read ahead at once: the other thread takes a while to begin.
    private static var rowsAhead: Int { 1 << 14 }
    private static var mostBytes: Int { 1 << 22 }

    private var reading: Reading
    private var walk: Walk?
    private var ahead = WorkAhead<Batch, any Error>()

    init(_ view: SQLView, _ pull: RowPull<Row>, readsKeys: Bool) {
        reading = Reading(view: view, pull: pull, readsKeys: readsKeys)
    }

    /// Replaces rows by the next ones.
    ///
    /// - Parameter goesOn: whether many more are likely to be read.
    /// - Returns: whether these are the last ones.
    mutating func next(_ most: Int, into rows: inout [Row], keys: inout [[UInt8]], goesOn: Bool) throws -> Bool {
        var isLast: Bool
        if let walk {
            var batch = try ahead.count > 0 ? ahead.removeFirst().get() : walk.next(most)
            swap(&batch.rows, &rows)
            (walk.used, keys, isLast) = (batch.rows, batch.keys, batch.isLast)
        } else {
            rows.removeAll(keepingCapacity: true)
            keys.removeAll(keepingCapacity: true)
            isLast = try reading.next(most, into: &rows, keys: &keys)
        }
        guard goesOn, !isLast else { return isLast }
        let walk = walk ?? Walk(reading)
        self.walk = walk
        ahead.append { Result { try walk.next(most) } }
        return false
    }

    /// To be called last.
    func end() { ahead.drop() }
}
