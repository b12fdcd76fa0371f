internal import CLMDB
internal import Glibc
internal import Synchronization

/// One LMDB environment: a folder with one data file of named tables, shared by any number of readers and one writer.
///
/// ```swift
/// let environment = try Environment.open("/srv/mesh/views/nodes", EnvironmentOptions())
/// let nodes = try environment.table("nodes")
/// var write = try environment.beginWrite()
/// try write.put(nodes, key: key, value: row)
/// try write.commit()
/// ```
///
/// Readers see the state of the last commit before they began and never wait; a reader that stays open keeps old pages from
/// being reused, so read transactions are short: a batch or 100 ms, never across an `await`.
///
/// Synchronization: `state` is behind its mutex; LMDB serialises everything else itself.
@safe public final class Environment: Sendable {
    struct State: ~Copyable {
        /// Transactions that have begun and not ended.
        var liveTransactions = 0
        /// Whether new transactions wait, until those that have begun have ended and the map has another size.
        var isResizing = false
        /// Why new transactions are refused.
        var refusal: StorageError.Code?
        var isClosed: Bool { refusal != nil }
        var isReleased = false
        var areWritesClosed = false
        /// Whether nothing need be left at the path.
        var isUnnamed = false
        /// The number of the last transaction that this process has stored.
        var lastCommit = 0
        var tables: [String: RawTable] = [:]
        /// Ended read transactions that later ones reuse.
        var resting: [RestingRead] = []
    }

    public let path: String
    public let options: EnvironmentOptions
    /// The process that opened it: after a fork the child must not use it.
    let process: Int32
    let identity: OpenEnvironments.Identity
    static let resizePause_us: UInt32 = 100
    /// Nil if nothing is written or synced.
    let witness: SyncWitness?
    let state = Mutex(State())
    /// Held while a table handle is being opened, which LMDB allows in one transaction at a time only.
    let tableOpening = Mutex(())
    // unsafe: LMDB's handle may be used by any thread; it stays valid until `release`, which waits for the last transaction.
    nonisolated(unsafe) let handle: OpaquePointer

    init(path: String, options: EnvironmentOptions, identity: OpenEnvironments.Identity, handle: OpaquePointer) {
        self.path = path
        self.options = options
        self.identity = identity
        process = getpid()
        let syncs = options.access == .readWrite && options.durability != .none
        witness = syncs ? SyncWitness(path: path) : nil
        unsafe self.handle = handle
    }

    deinit {
        let isReleased = state.withLock { $0.isReleased }
        if !isReleased { release() }
    }

    /// Refuses new transactions; the file is closed as soon as the last live transaction has ended.
    /// - Parameter code: the error of those who come later.
    public func close(refusing code: StorageError.Code = .closed) {
        let closesNow = state.withLock { state in
            guard !state.isClosed else { return false }
            state.refusal = code
            guard state.liveTransactions == 0 else {
                OpenEnvironments.noteClosing(identity)
                return false
            }
            state.isReleased = true
            return true
        }
        if closesNow { release() }
    }

    private func release() {
        // A forked child only drops it: closing would change the parent's table of readers.
        guard process == getpid() else { return }
        endResting()
        padFile()
        unsafe ReaderNumber.close(handle)
        witness?.close()
        OpenEnvironments.remove(identity)
    }

    /// Counts a new transaction, unless the environment is closed.
    ///
    /// - Parameter take: called with the state if the transaction may begin.
    func enter(forWriting: Bool, _ take: (inout State) -> Void = { _ in }) throws(StorageError) {
        guard process == getpid() else { throw StorageError(.forked, call: "mdb_txn_begin", path: path) }
        var (refusal, isResizing): (StorageError.Code?, Bool)
        repeat {
            (refusal, isResizing) = state.withLock { state in
                if let refusal = state.refusal { return (refusal, false) }
                if forWriting && state.areWritesClosed { return (.writesClosed, false) }
                if state.isResizing { return (nil, true) }
                state.liveTransactions += 1
                take(&state)
                return (nil, false)
            }
            if isResizing { usleep(Self.resizePause_us) }
        } while isResizing
        if let refusal { throw StorageError(refusal, call: "mdb_txn_begin", path: path) }
        guard !forWriting || options.access == .readWrite else {
            leave()
            throw StorageError(.readOnly, call: "mdb_txn_begin", path: path)
        }
    }

    /// Counts an ended transaction, and closes the file when `close` waits for it.
    func leave() {
        let closesNow = state.withLock { state in
            state.liveTransactions -= 1
            guard state.isClosed, state.liveTransactions == 0, !state.isReleased else { return false }
            state.isReleased = true
            return true
        }
        if closesNow { release() }
    }

    /// Refuses further writes: after a failed sync it is unknown what the disk holds until the file is reopened.
    package func closeWrites() {
        state.withLock { $0.areWritesClosed = true }
    }

    /// Whether a failed write or sync has closed this handle for writing.
    public var areWritesClosed: Bool { state.withLock { $0.areWritesClosed } }

    func check(_ number: Int32, _ call: StaticString) throws(StorageError) {
        if number != MDB_SUCCESS {
            throw StorageError(.init(number: number), call: "\(call)", path: path, number: number)
        }
    }
}
