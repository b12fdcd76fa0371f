internal import CLMDB
internal import Glibc
internal import Synchronization

/// Sizes and readers of an environment at one point in time.
public struct EnvironmentInfo: Sendable, Equatable {
    /// Bytes of the data file that the last commit uses, free pages included.
    public let usedSize: Int
    /// Bytes that the data file actually has. It can be slightly less than `usedSize` if the last pages are free; much less means
    /// that the file was truncated.
    public let fileSize: Int
    /// The most bytes that this handle may use.
    public let mappedSize: Int
    public let pageSize: Int
    /// The number of the last committed transaction.
    public let lastTransaction: Int
    /// Slots of the readers' table in use.
    public let readers: Int
}

extension Environment {
    /// The sizes and readers as of now.
    /// - Throws: `.closed`, `.forked`, and errors of the file.
    public func info() throws(StorageError) -> EnvironmentInfo {
        try enter(forWriting: false)
        defer { leave() }
        var info = unsafe MDB_envinfo()
        var status = MDB_stat()
        try check(unsafe mdb_env_info(handle, &info), "mdb_env_info")
        try check(unsafe mdb_env_stat(handle, &status), "mdb_env_stat")
        return unsafe EnvironmentInfo(
            usedSize: Self.usedSize(info, status), fileSize: try fileSize(), mappedSize: info.me_mapsize,
            pageSize: Int(status.ms_psize),
            lastTransaction: info.me_last_txnid, readers: Int(info.me_numreaders))
    }

    /// Bytes of the data file up to the last page that was ever used, and how many of them this handle may use. Needs no system call.
    /// - Throws: `.closed` and `.forked`.
    public func extent() throws(StorageError) -> (usedSize: Int, sizeLimit: Int, lastTransaction: Int) {
        try enter(forWriting: false)
        defer { leave() }
        var info = unsafe MDB_envinfo()
        var status = MDB_stat()
        try check(unsafe mdb_env_info(handle, &info), "mdb_env_info")
        try check(unsafe mdb_env_stat(handle, &status), "mdb_env_stat")
        return unsafe (Self.usedSize(info, status), info.me_mapsize, info.me_last_txnid)
    }

    /// Bytes of pages that commits have freed, and that later ones use again; with a step for each commit that freed some.
    /// - Throws: what `beginRead` throws, and `.corrupt` if the file is damaged.
    public func freeSize() throws(StorageError) -> Int {
        let transaction = try beginRead()
        // LMDB's own table of free pages: each row begins with the number of pages that it lists.
        var cursor = try transaction.cursor(RawTable.freePages)
        var pages = 0
        var isThere = try cursor.first()
        while isThere {
            if cursor.value.byteCount >= 8 {
                // LMDB writes it in the machine's own order.
                pages += unsafe Int(clamping: cursor.value.unsafeLoadUnaligned(fromByteOffset: 0, as: UInt64.self) & 0xffff_ffff)
            }
            isThere = try cursor.next()
        }
        return try pages * info().pageSize
    }

    /// Bytes of all pages up to the last one; the largest possible size if damage has made the number impossible.
    static func usedSize(_ info: MDB_envinfo, _ status: MDB_stat) -> Int {
        let last = unsafe info.me_last_pgno
        let (size, isTooMuch) = last.multipliedReportingOverflow(by: Int(status.ms_psize))
        return last < 0 || isTooMuch || size > .max - Int(status.ms_psize) ? .max : size + Int(status.ms_psize)
    }

    private func fileSize() throws(StorageError) -> Int {
        var file: Int32 = -1
        try check(unsafe mdb_env_get_fd(handle, &file), "mdb_env_get_fd")
        var status = stat()
        guard unsafe fstat(file, &status) == 0 else {
            throw StorageError(.init(number: errno), call: "fstat", path: path, number: errno)
        }
        return Int(status.st_size)
    }

    /// Copies the data file, which must not be written to meanwhile, even if it no longer has a name. The copy is on disk when this returns.
    package func copyData(to path: String) throws(StorageError) {
        try enter(forWriting: false)
        defer { leave() }
        var source: Int32 = -1
        try check(unsafe mdb_env_get_fd(handle, &source), "mdb_env_get_fd")
        let target = try OwnedFile.create(path, mode: .likeFolder)
        defer { Glibc.close(target) }
        var (offset, buffer) = (0, [UInt8](repeating: 0, count: 1 << 20))
        while true {
            let count = unsafe buffer.withUnsafeMutableBytes { unsafe pread(source, $0.baseAddress, $0.count, off_t(offset)) }
            guard count >= 0 else { throw StorageError(.init(number: errno), call: "pread", path: self.path, number: errno) }
            if count == 0 { break }
            try OwnedFile.write(target, Array(buffer.prefix(count)), path)
            offset += count
        }
        guard fsync(target) == 0 else { throw StorageError(.init(number: errno), call: "fsync", path: path, number: errno) }
    }

    /// Writes a copy of the data file as of one commit, even while it is written to.
    package func copySnapshot(to path: String) throws(StorageError) {
        try enter(forWriting: false)
        defer { leave() }
        let target = try OwnedFile.create(path, mode: .likeFolder)
        defer { Glibc.close(target) }
        try check(unsafe mdb_env_copyfd(handle, target), "mdb_env_copyfd")
    }

    /// Whether the files are in memory, where a sync does not wait.
    /// - Throws: `.missing`, `.permission` and others if the folder cannot be examined.
    public func isInMemory() throws(StorageError) -> Bool { FileSystemKind.isMemory(magic: try FileSystemKind.magic(path)) }

    /// Frees the slots of readers whose process has died. Also done at open and when all slots are taken.
    /// - Returns: how many slots were freed.
    /// - Throws: `.closed`, `.forked`, and errors of the lock file.
    @discardableResult
    public func clearStaleReaders() throws(StorageError) -> Int {
        try enter(forWriting: false)
        defer { leave() }
        var count: Int32 = 0
        try check(unsafe mdb_reader_check(handle, &count), "mdb_reader_check")
        return Int(count)
    }

    /// Lets somebody remove the files at the path while they are open here.
    package func giveUpName() { state.withLock { $0.isUnnamed = true } }

    /// Whether the file at the path is still the one that is open; otherwise it was moved, removed or replaced.
    package var isInPlace: Bool {
        var file: Int32 = -1
        guard unsafe mdb_env_get_fd(handle, &file) == MDB_SUCCESS else { return false }
        return OwnedFile.isOpen(file, at: path + "/data.mdb")
    }

    /// Whether the open file still has a name; otherwise it was removed or replaced. Unlike `isInPlace`, it does not look at the path, which takes longer.
    package var hasName: Bool {
        guard (try? enter(forWriting: false)) != nil else { return false }  // it is closed
        defer { leave() }
        var (file, status): (Int32, stat) = (-1, stat())
        guard unsafe mdb_env_get_fd(handle, &file) == MDB_SUCCESS, unsafe fstat(file, &status) == 0 else { return false }
        return status.st_nlink > 0
    }

    /// Flushes all commits to disk, whatever the durability. A failure closes this handle for writing.
    /// - Throws: `.readOnly`, `.closed`, `.forked`, `.writesClosed` if an earlier write failed, and errors of the disk.
    public func sync() throws(StorageError) {
        try enter(forWriting: true)
        defer { leave() }
        let result = unsafe mdb_env_sync(handle, 1)
        if result != MDB_SUCCESS { closeWrites() }
        try check(result, "mdb_env_sync")
    }

    /// Sets the maximum size of the data file, in bytes; never less than its present size. No transaction of this process
    /// may be open.
    ///
    /// - Parameter patience: how long new transactions of this process wait until those that have begun have ended.
    /// - Throws: `.busy` if transactions are still open then, `.outOfMemory` if the address space does not suffice: the limit
    ///   then stays the same. `.closed`, `.forked`; any other failure closes the environment.
    public func setSizeLimit(_ bytes: Int, patience: Duration = .zero) throws(StorageError) {
        guard process == getpid() else { throw StorageError(.forked, call: "mdb_env_set_mapsize", path: path) }
        var wanted = options
        wanted.sizeLimit = bytes
        let size = Environment.mapSize(wanted)
        defer { state.withLock { $0.isResizing = false } }
        let deadline = ContinuousClock.now + patience
        while ContinuousClock.now < deadline {
            let isQuiet = state.withLock { state in
                state.isResizing = true
                return state.liveTransactions == 0 || state.isClosed
            }
            if isQuiet { break }
            usleep(Self.resizePause_us)
        }
        let result: (StorageError.Code, Int32)? = state.withLock { state in
            if let refusal = state.refusal { return (refusal, 0) }
            if state.liveTransactions > 0 { return (.busy, 0) }
            // LMDB unmaps the old map first: the new one must not fail after that.
            guard Environment.canMap(size) else { return (.outOfMemory, ENOMEM) }
            let number = unsafe mdb_env_set_mapsize(handle, size)
            if number == MDB_SUCCESS { return nil }
            // Without a map the handle must not be used.
            state.refusal = .closed
            state.isReleased = true
            return (.init(number: number), number)
        }
        if let result { throw StorageError(result.0, call: "mdb_env_set_mapsize", path: path, number: result.1) }
    }

    private static func canMap(_ size: Int) -> Bool {
        let flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE
        guard let place = unsafe mmap(nil, size, PROT_NONE, flags, -1, 0), unsafe place != MAP_FAILED else { return false }
        unsafe munmap(place, size)
        return true
    }
}
