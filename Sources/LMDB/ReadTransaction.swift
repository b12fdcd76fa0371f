internal import CLMDB
internal import Synchronization

/// A view of the environment as of the last commit before it began. Ends when the value does.
///
/// Keep it short: while it is open, pages that writers replace cannot be reused and the file grows.
public struct ReadTransaction: ~Copyable, TransactionReading {
    public let handle: TransactionHandle
    private var isEnded = false

    init(handle: TransactionHandle) { self.handle = handle }

    deinit {
        guard !isEnded else { return }
        unsafe handle.environment.rest(handle.pointer)
    }

    /// The number of the commit that is read: transactions of one environment with the same number read the same data.
    public var snapshot: Int { unsafe mdb_txn_id(handle.pointer) }

    /// Ends the transaction so that table handles opened in it stay open.
    consuming func finishKeepingTables() throws(StorageError) {
        isEnded = true
        let result = unsafe mdb_txn_commit(handle.pointer)
        handle.environment.leave()
        try handle.environment.check(result, "mdb_txn_commit")
    }
}

extension Environment {
    /// Begins reading the state of the last commit.
    /// - Throws: `.closed`, or the code that `close` was given; `.forked` in a child process, `.tooManyReaders`, and errors of
    ///   the file.
    public func beginRead() throws(StorageError) -> ReadTransaction {
        var rested: RestingRead?
        try enter(forWriting: false) { rested = $0.resting.popLast() }
        if let rested {
            if unsafe mdb_txn_renew(rested.pointer) == MDB_SUCCESS {
                return unsafe ReadTransaction(handle: TransactionHandle(environment: self, pointer: rested.pointer))
            }
            unsafe mdb_txn_abort(rested.pointer)
        }
        var pointer: OpaquePointer?
        var result = unsafe mdb_txn_begin(handle, nil, UInt32(MDB_RDONLY), &pointer)
        if result == MDB_READERS_FULL {
            unsafe mdb_reader_check(handle, nil)
            result = unsafe mdb_txn_begin(handle, nil, UInt32(MDB_RDONLY), &pointer)
        }
        guard result == MDB_SUCCESS, let pointer = unsafe pointer else {
            leave()
            throw StorageError(.init(number: result), call: "mdb_txn_begin", path: path, number: result)
        }
        return unsafe ReadTransaction(handle: TransactionHandle(environment: self, pointer: pointer))
    }

    /// Runs `body` in one read transaction.
    /// - Throws: what `beginRead` and `body` throw.
    public func read<Result: ~Copyable>(
        _ body: (borrowing ReadTransaction) throws(StorageError) -> Result
    ) throws(StorageError) -> Result {
        let transaction = try beginRead()
        return try body(transaction)
    }
}

extension Environment {
    /// How many ended read transactions are kept, each with its slot in the table of readers: beginning a new one costs several times
    /// as much as renewing one.
    private static let mostResting = 8

    /// Ends a read transaction, and keeps it for reuse.
    func rest(_ pointer: OpaquePointer) {
        unsafe mdb_txn_reset(pointer)
        let resting = unsafe RestingRead(pointer: pointer)
        let isKept = state.withLock { state in
            guard !state.isClosed, state.resting.count < Self.mostResting else { return false }
            state.resting.append(resting)
            state.liveTransactions -= 1
            return true
        }
        if isKept { return }
        unsafe mdb_txn_abort(pointer)
        leave()
    }

    /// Ends the kept ones, when the environment is about to be closed.
    func endResting() {
        let resting = state.withLock { state in
            let resting = state.resting
            state.resting = []
            return resting
        }
        for read in resting { unsafe mdb_txn_abort(read.pointer) }
    }
}

/// A read transaction that has been reset.
///
/// Safe: only the caller that took it out of the environment's state, under its lock, uses it.
@safe struct RestingRead: @unchecked Sendable {
    @unsafe let pointer: OpaquePointer

    init(pointer: OpaquePointer) { unsafe self.pointer = pointer }
}
