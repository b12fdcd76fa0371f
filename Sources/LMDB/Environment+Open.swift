internal import CLMDB
internal import Glibc

extension Environment {
    /// Opens the environment in the folder `path`, and creates it if the options say so.
    ///
    /// - Throws: `.missing`, `.permission`, `.alreadyOpen`, `.networkFileSystem`, `.corrupt`, `.otherVersion` and others, with
    ///   nothing changed on disk.
    public static func open(
        _ path: String, _ options: EnvironmentOptions = EnvironmentOptions()
    ) throws(StorageError) -> Environment {
        if options.access == .readWrite && options.createsFolder { try createFolder(path, options) }
        try OwnedFile.requireFolder(path, mayBeAlias: true)
        let identity = try OpenEnvironments.Identity(path: path)
        try FileSystemKind.refuse(path)
        let files = try FilesBefore(path)
        try requireDataFile(path, options)
        try refuseDamage(path, options)
        try OpenEnvironments.register(identity, path: path)
        let environment: Environment
        do throws(StorageError) {
            let handle = unsafe try openHandle(path, options)
            environment = unsafe Environment(path: path, options: options, identity: identity, handle: handle)
        } catch {
            OpenEnvironments.remove(identity)
            throw error
        }
        try files.requireSame(as: environment)
        try environment.refuseCutFile()
        if options.access == .readWrite { environment.findLastCommit() }
        return environment
    }

    /// Lets LMDB notice that the previous writer was killed after its last commit, but before it published it to readers. Only the next writer
    /// does that, so until then the state before that commit is read.
    private func findLastCommit() {
        guard let write = try? beginWrite() else { return }  // the first change reports what is wrong
        write.abort()
    }

    private static func createFolder(_ path: String, _ options: EnvironmentOptions) throws(StorageError) {
        try OwnedFile.makeFolder(path, mode: options.isSharedLikeFolder ? .likeFolder : 0o700)
        // LMDB would create it with the rights of this process; it accepts an empty file as a new one.
        Glibc.close(try OwnedFile.open(path + "/data.mdb", O_RDWR | O_CREAT, mode: options.fileMode))
    }

    /// LMDB would create an empty data file if a reader or a careful writer expects one.
    private static func requireDataFile(_ path: String, _ options: EnvironmentOptions) throws(StorageError) {
        guard options.access == .readOnly || !options.createsFolder else { return }
        let file = path + "/data.mdb"
        guard unsafe access(file, F_OK) != 0 else { return }
        throw StorageError(.init(number: errno), call: "access", path: file, number: errno)
    }

    /// Checks what LMDB will trust. A writer that creates the file may find an empty one after an interrupted creation.
    private static func refuseDamage(_ path: String, _ options: EnvironmentOptions) throws(StorageError) {
        let file = path + "/data.mdb"
        var status = stat()
        let mayBeNew = options.access == .readWrite && options.createsFolder
        guard unsafe stat(file, &status) == 0 else { return }
        // LMDB writes in place: a backup that consists of hard links, as `cp -al` makes them, would change with the ledger.
        if options.access == .readWrite, status.st_nlink > 1 {
            let advice = "give the ledger a file of its own with `cp -p FILE COPY && mv COPY FILE`"
            throw StorageError(
                .foreign, call: "\(status.st_nlink) hard links lead to it, and all would be changed; \(advice)", path: file)
        }
        guard status.st_size > 0 || !mayBeNew else { return }
        if let fault = try DataFileCheck.fault(file) { throw StorageError(.corrupt, call: fault, path: file) }
    }

    private static func openHandle(_ path: String, _ options: EnvironmentOptions) throws(StorageError) -> OpaquePointer {
        var size = mapSize(options)
        while true {
            do throws(StorageError) {
                return unsafe try openHandle(path, options, mapSize: size)
            } catch  where error.number == ENOMEM && options.access == .readOnly && size > 1 << 32 {
                size /= 4
            } catch  where error.number == ENOMEM && options.sizeLimit > 1 << 34 && size > 1 << 32 {
                size /= 4
            }
        }
    }

    /// A writer maps exactly what it may use, so that LMDB itself enforces the limit to the page; a reader maps the most that a writer
    /// could ever grow to.
    static func mapSize(_ options: EnvironmentOptions) -> Int {
        mapSize(limit: options.access == .readOnly ? EnvironmentOptions.reservation : options.sizeLimit)
    }

    /// The map size of a writer with this limit.
    package static func mapSize(limit: Int) -> Int {
        let page = Int(getpagesize())
        return max(min(limit, EnvironmentOptions.reservation), 16 * page) / page * page
    }

    /// Uses another number among the readers if a process in another container has the same one.
    private static func openHandle(
        _ path: String, _ options: EnvironmentOptions, mapSize: Int
    ) throws(StorageError) -> OpaquePointer {
        for _ in 0..<ReaderNumber.attempts {
            let handle = unsafe try openHandle(path, options, mapSize, ReaderNumber.own)
            if unsafe lacksLocks(path, options) || ReaderNumber.isFree(handle) { return unsafe handle }
            unsafe ReaderNumber.close(handle)
            let other = unsafe try openHandle(path, options, mapSize, ReaderNumber.other())
            if unsafe ReaderNumber.isFree(other) { return unsafe other }
            unsafe ReaderNumber.close(other)
        }
        throw StorageError(.init(number: EAGAIN), call: "mdb_txn_begin", path: path, number: EAGAIN)
    }

    private static func openHandle(
        _ path: String, _ options: EnvironmentOptions, _ mapSize: Int, _ number: Int32
    ) throws(StorageError) -> OpaquePointer {
        func check(_ number: Int32, _ call: String) throws(StorageError) {
            guard number != MDB_SUCCESS else { return }
            throw StorageError(.init(number: number), call: call, path: path, number: number)
        }
        var created: OpaquePointer?
        try check(unsafe mdb_env_create(&created), "mdb_env_create")
        guard let handle = unsafe created else { throw StorageError(.outOfMemory, call: "mdb_env_create", path: path) }
        do throws(StorageError) {
            try check(unsafe mdb_env_set_mapsize(handle, mapSize), "mdb_env_set_mapsize")
            try check(unsafe mdb_env_set_maxreaders(handle, readerPlaces), "mdb_env_set_maxreaders")
            try check(unsafe mdb_env_set_maxdbs(handle, UInt32(clamping: options.maximumTables)), "mdb_env_set_maxdbs")
            if number != getpid() { unsafe try ReaderNumber.take(number, handle, path) }
            if !lacksLocks(path, options) { try reserveLocks(path, options) }
            try check(unsafe openFiles(handle, path, options), "mdb_env_open")
            if !lacksLocks(path, options) {
                try check(unsafe mdb_reader_check(handle, nil), "mdb_reader_check")
            }
        } catch {
            unsafe mdb_env_close(handle)
            throw error
        }
        return unsafe handle
    }

    /// LMDB opens its files by their paths, follows links and creates what is missing. Where others may exchange files in the folder, it gets links to
    /// the files that were checked. For the superuser in another user's ledger, the path leads through the opened folder, with that user's rights: a
    /// link in a file's place leads to nothing that this user could not open.
    private static func openFiles(
        _ handle: OpaquePointer, _ path: String, _ options: EnvironmentOptions
    ) throws(StorageError) -> Int32 {
        let flags = flags(path, options)
        let folder = try OpenedFolder(path)
        guard folder.isOpenToOthers, unsafe access(folder.place + "/.", F_OK) == 0 else {
            return unsafe mdb_env_open(handle, path, flags, fileMode)
        }
        guard let owner = try folder.otherOwner() else {
            let files = try LinkedFiles(["data.mdb"] + (lacksLocks(path, options) ? [] : ["lock.mdb"]), in: folder)
            return unsafe mdb_env_open(handle, files.path, flags, fileMode)
        }
        // They hold for this thread only.
        let (group, user) = (setfsgid(owner.group), setfsuid(owner.user))
        defer {
            setfsuid(UInt32(bitPattern: user))
            setfsgid(UInt32(bitPattern: group))
        }
        return unsafe mdb_env_open(handle, folder.place, flags, fileMode)
    }

    private static let fileMode: UInt32 = 0o600
    private static let readerPlaces: UInt32 = 1024
    /// Their size in LMDB: a cache line each, and three before them.
    package static let lockFileSize = Int(readerPlaces) * 64 + 128

    /// Allocates the lock file's space, since LMDB creates it sparse and writes through memory: on a full disk, a signal would end the process.
    private static func reserveLocks(_ path: String, _ options: EnvironmentOptions) throws(StorageError) {
        let place = path + "/lock.mdb"
        let file: Int32
        do throws(StorageError) {
            file = try OwnedFile.open(place, O_RDWR | O_CREAT, mode: options.fileMode)
        } catch {
            guard error.code == .foreign else { return }  // LMDB says why
            throw error
        }
        defer { Glibc.close(file) }
        var status = stat()
        guard unsafe fstat(file, &status) == 0 else { return }
        // A hard link to another file: LMDB would write into it.
        if status.st_nlink > 1, !isLockFile(file) {
            throw StorageError(.foreign, call: "it is a hard link to another file, not a lock file", path: place)
        }
        guard status.st_blocks * 512 < lockFileSize else { return }
        let number = posix_fallocate(file, 0, off_t(lockFileSize))
        // Other numbers are not conclusive; and a file that was in use before probably has the space that it needs.
        guard number == ENOSPC || number == EDQUOT || number == EIO, status.st_size < lockFileSize else { return }
        _ = ftruncate(file, status.st_size)
        throw StorageError(.init(number: number), call: "posix_fallocate", path: place, number: number)
    }

    /// Whether it begins like LMDB's lock files.
    private static func isLockFile(_ file: Int32) -> Bool {
        var magic: UInt32 = 0
        return unsafe withUnsafeMutableBytes(of: &magic) { unsafe pread(file, $0.baseAddress, 4, 0) } == 4 && magic == 0xbeef_c0de
    }

    private static func flags(_ path: String, _ options: EnvironmentOptions) -> UInt32 {
        var flags = MDB_NOTLS
        if options.access == .readOnly { flags |= MDB_RDONLY }
        if lacksLocks(path, options) { flags |= MDB_NOLOCK }
        switch options.durability {
        case .full: break
        case .withoutMetaSync: flags |= MDB_NOMETASYNC
        case .none: flags |= MDB_NOSYNC
        }
        return UInt32(bitPattern: flags)
    }

    /// A reader does without the lock file only if it cannot use one and no writer can exist: no lock file exists and none can be
    /// created, or the caller excludes writers.
    private static func lacksLocks(_ path: String, _ options: EnvironmentOptions) -> Bool {
        guard options.access == .readOnly else { return false }
        let locks = path + "/lock.mdb"
        if unsafe access(locks, F_OK) != 0 { return unsafe access(path, W_OK) != 0 }
        return unsafe options.excludesWriters && access(locks, R_OK | W_OK) != 0
    }
}

/// The files of an environment as found before LMDB opens them by their paths, to be compared afterwards.
private struct FilesBefore {
    private let (data, locks): (OwnedFile.Identity?, OwnedFile.Identity?)
    private let path: String

    init(_ path: String) throws(StorageError) {
        self.path = path
        data = try OwnedFile.require(path + "/data.mdb")
        locks = try OwnedFile.require(path + "/lock.mdb")
    }

    func requireSame(as environment: Environment) throws(StorageError) {
        var (file, status) = (Int32(-1), stat())
        try environment.check(unsafe mdb_env_get_fd(environment.handle, &file), "mdb_env_get_fd")
        guard unsafe fstat(file, &status) == 0 else {
            throw StorageError(.init(number: errno), call: "fstat", path: path, number: errno)
        }
        let opened = OwnedFile.Identity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
        let (dataNow, locksNow) = (try OwnedFile.require(path + "/data.mdb"), try OwnedFile.require(path + "/lock.mdb"))
        guard data == nil || data == opened, dataNow == nil || dataNow == opened,
            locks == nil || locksNow == nil || locks == locksNow
        else { throw StorageError(.foreign, call: "it was replaced while it was being opened", path: path) }
    }
}

extension EnvironmentOptions {
    /// Of new files, see `OwnedFile`.
    fileprivate var fileMode: FileRights { isSharedLikeFolder ? .likeFolder : 0o600 }
}
