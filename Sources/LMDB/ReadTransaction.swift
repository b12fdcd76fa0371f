internal import CLMDB

/// A view of the environment as of the last commit before it began. Ends when the value does.
///
/// Keep it short: while it lives, pages that writers replace cannot be used again and the file grows.
public struct ReadTransaction: ~Copyable, TransactionReading {
    public let handle: TransactionHandle
    private var isEnded = false

    init(handle: TransactionHandle) { self.handle = handle }

    deinit {
        guard !isEnded else { return }
        unsafe mdb_txn_abort(handle.pointer)
        handle.environment.leave()
    }

    /// Ends the transaction so that table handles opened in it stay open.
    consuming func finishKeepingTables() throws(StorageError) {
        isEnded = true
        let result = unsafe mdb_txn_commit(handle.pointer)
        handle.environment.leave()
        try handle.environment.check(result, "mdb_txn_commit")
    }
}

extension Environment {
    /// Begins to read the state of the last commit.
    public func beginRead() throws(StorageError) -> ReadTransaction {
        try enter(forWriting: false)
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
    public func read<Result: ~Copyable>(
        _ body: (borrowing ReadTransaction) throws(StorageError) -> Result
    ) throws(StorageError) -> Result {
        let transaction = try beginRead()
        return try body(transaction)
    }
}
