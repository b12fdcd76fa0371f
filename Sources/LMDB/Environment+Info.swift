internal import CLMDB
internal import Glibc
internal import Synchronization

/// Sizes and readers of an environment at one moment.
public struct EnvironmentInfo: Sendable, Equatable {
    /// Bytes of the data file that the last commit uses, free pages included.
    public let usedSize: Int
    /// The most bytes that this handle may use.
    public let mappedSize: Int
    public let pageSize: Int
    /// The number of the last committed transaction.
    public let lastTransaction: Int
    /// Places of the readers' table in use.
    public let readers: Int
}

extension Environment {
    public func info() throws(StorageError) -> EnvironmentInfo {
        try enter(forWriting: false)
        defer { leave() }
        var info = unsafe MDB_envinfo()
        var status = MDB_stat()
        try check(unsafe mdb_env_info(handle, &info), "mdb_env_info")
        try check(unsafe mdb_env_stat(handle, &status), "mdb_env_stat")
        return unsafe EnvironmentInfo(
            usedSize: (info.me_last_pgno + 1) * Int(status.ms_psize), mappedSize: info.me_mapsize, pageSize: Int(status.ms_psize),
            lastTransaction: info.me_last_txnid, readers: Int(info.me_numreaders))
    }

    /// Frees the places of readers whose process has died. Also done at open and when all places are taken.
    /// - Returns: how many places were freed.
    @discardableResult
    public func clearStaleReaders() throws(StorageError) -> Int {
        try enter(forWriting: false)
        defer { leave() }
        var count: Int32 = 0
        try check(unsafe mdb_reader_check(handle, &count), "mdb_reader_check")
        return Int(count)
    }

    /// Brings all commits to the disk, whatever the durability. A failure closes this handle for writing.
    public func sync() throws(StorageError) {
        try enter(forWriting: true)
        defer { leave() }
        let result = unsafe mdb_env_sync(handle, 1)
        if result != MDB_SUCCESS { closeWrites() }
        try check(result, "mdb_env_sync")
    }

    /// Sets how large the data file may grow, in bytes. Only between transactions of this process: else it throws `.busy`.
    public func setSizeLimit(_ bytes: Int) throws(StorageError) {
        guard process == getpid() else { throw StorageError(.forked, call: "mdb_env_set_mapsize", path: path) }
        var wanted = options
        wanted.sizeLimit = bytes
        let size = Environment.mapSize(wanted)
        let result: (StorageError.Code, Int32)? = state.withLock { state in
            if state.isClosed { return (.closed, 0) }
            if state.liveTransactions > 0 { return (.busy, 0) }
            let number = unsafe mdb_env_set_mapsize(handle, size)
            return number == MDB_SUCCESS ? nil : (.init(number: number), number)
        }
        if let result { throw StorageError(result.0, call: "mdb_env_set_mapsize", path: path, number: result.1) }
    }
}
