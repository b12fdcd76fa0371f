internal import CLMDB
internal import Glibc
internal import Synchronization

/// How a row is stored.
public enum PutMode: Sendable {
    /// Replaces the value of an existing key.
    case replace
    /// Throws `.keyExists` when the key already exists.
    case noOverwrite
    /// The key comes after every other in the table: the fastest way to load sorted rows. Throws `.keyExists` otherwise.
    case append

    var flags: UInt32 {
        switch self {
        case .replace: 0
        case .noOverwrite: UInt32(MDB_NOOVERWRITE)
        case .append: UInt32(MDB_APPEND)
        }
    }
}

/// The one transaction that may change the environment. Others wait in `beginWrite`. Nothing is stored before `commit` returns;
/// a transaction that is not committed leaves no trace.
///
/// It belongs to the thread that began it: begin, change and commit without an `await` in between.
public struct WriteTransaction: ~Copyable, TransactionReading {
    public let handle: TransactionHandle
    private var isEnded = false

    init(handle: TransactionHandle) { self.handle = handle }

    deinit {
        guard !isEnded else { return }
        unsafe mdb_txn_abort(handle.pointer)
        handle.environment.leave()
    }

    /// Stores all changes, durable as the environment's options say.
    ///
    /// - Throws: `.sizeLimitReached` or `.diskFull` when nothing was stored and a retry may succeed. Any other failure means that
    ///   the outcome is unknown, and the environment refuses writes until it is reopened.
    public consuming func commit() throws(StorageError) {
        isEnded = true
        let environment = handle.environment
        let number = unsafe mdb_txn_id(handle.pointer)
        let result = unsafe mdb_txn_commit(handle.pointer)
        defer { environment.leave() }
        guard result != MDB_SUCCESS else { return environment.noteCommit(number) }
        let code = environment.code(ofCommit: result)
        let isRefused =
            code == .sizeLimitReached || code == .outOfMemory || code == .diskFull && environment.witness?.isDataSynced() ?? true
        if !isRefused || environment.isPanicked() { environment.closeWrites() }
        throw StorageError(code, call: "mdb_txn_commit", path: environment.path, number: result)
    }

    /// Drops all changes.
    public consuming func abort() {}
}

extension Environment {
    /// Begins the one write transaction, after the previous one has ended.
    /// - Parameter watch: records the changes.
    /// - Throws: `.readOnly`, `.closed`, `.forked`, `.writesClosed` if an earlier write failed, `.replaced` if its file was
    ///   replaced or is gone, and errors of the file.
    public func beginWrite(watching watch: RowWatch? = nil) throws(StorageError) -> WriteTransaction {
        try enter(forWriting: true)
        var pointer: OpaquePointer?
        let result = unsafe mdb_txn_begin(handle, nil, 0, &pointer)
        guard result == MDB_SUCCESS, let pointer = unsafe pointer else {
            leave()
            if result == MDB_PANIC { closeWrites() }
            throw StorageError(.init(number: result), call: "mdb_txn_begin", path: path, number: result)
        }
        let isLast = unsafe isBasedOnLastCommit(pointer)
        guard isLast, isInPlace || state.withLock({ $0.isUnnamed }) else {
            unsafe mdb_txn_abort(pointer)
            leave()
            let fault = isLast ? "its file is another file or is gone" : "another copy was written over its file"
            throw StorageError(.replaced, call: fault, path: path)
        }
        return unsafe WriteTransaction(handle: TransactionHandle(environment: self, pointer: pointer, watch: watch))
    }

    /// Runs `body` in one write transaction and commits it; when `body` throws, nothing is stored.
    /// - Throws: what `beginWrite`, `body` and `commit` throw.
    public func write<Result: ~Copyable>(
        _ body: (inout WriteTransaction) throws(StorageError) -> Result
    ) throws(StorageError) -> Result {
        var transaction = try beginWrite()
        let result = try body(&transaction)
        try transaction.commit()
        return result
    }

    /// A transaction without changes is not stored, and the next one has its number.
    fileprivate func noteCommit(_ number: Int) {
        var info = unsafe MDB_envinfo()
        guard unsafe mdb_env_info(handle, &info) == MDB_SUCCESS, unsafe info.me_last_txnid >= number else { return }
        state.withLock { $0.lastCommit = number }
    }

    /// Whether the commit on which the transaction is based is the last one. LMDB takes its number from the lock file, and would not notice that another
    /// copy was written over the data file, or over both.
    private func isBasedOnLastCommit(_ transaction: OpaquePointer) -> Bool {
        let base = unsafe mdb_txn_id(transaction) - 1
        guard base >= state.withLock({ $0.lastCommit }) else { return false }
        var (file, stored) = (Int32(-1), UInt64(0))
        guard unsafe mdb_env_get_fd(handle, &file) == MDB_SUCCESS else { return false }
        let place = off_t(base & 1) * off_t(DataFile.pageSize) + off_t(MetaPage.transactionOffset)
        // What cannot be read is reported by whatever needs it.
        guard unsafe pread(file, &stored, 8, place) == 8 else { return true }
        return UInt64(littleEndian: stored) == UInt64(base)
    }

    /// The meaning of a failed commit. LMDB also returns EIO for a write that a full disk cut short; the remaining space distinguishes the two.
    fileprivate func code(ofCommit number: Int32) -> StorageError.Code {
        // By its descriptor: a file in memory has no name.
        var (file, status) = (Int32(-1), statvfs())
        guard number == EIO, unsafe mdb_env_get_fd(handle, &file) == MDB_SUCCESS, unsafe fstatvfs(file, &status) == 0
        else { return StorageError.Code(number: number) }
        let blocks = geteuid() == 0 ? status.f_bfree : status.f_bavail
        return UInt64(blocks) * UInt64(status.f_frsize) < 64 << 10 ? .diskFull : .inputOutput
    }

    /// Whether LMDB itself refuses to continue, as it does after a failed write of the meta page.
    func isPanicked() -> Bool {
        var pointer: OpaquePointer?
        let result = unsafe mdb_txn_begin(handle, nil, 0, &pointer)
        if let pointer = unsafe pointer, result == MDB_SUCCESS { unsafe mdb_txn_abort(pointer) }
        return result != MDB_SUCCESS
    }
}
