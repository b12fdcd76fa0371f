internal import Glibc
internal import Synchronization

/// The environments that this process has open, by device and inode of their folder.
///
/// LMDB must not open one file twice in a process: closing one would release the process's locks on both.
enum OpenEnvironments {
    struct Identity: Hashable, Sendable {
        let device: UInt64
        let inode: UInt64

        init(path: String) throws(StorageError) {
            var status = stat()
            guard unsafe stat(path, &status) == 0 else {
                throw StorageError(.init(number: errno), call: "stat", path: path, number: errno)
            }
            device = UInt64(status.st_dev)
            inode = UInt64(status.st_ino)
        }
    }

    private struct Entry: Hashable {
        let identity: Identity
        let process: Int32
    }

    /// Each folder is held open, so that no new folder gets its inode if it is removed. -1 if it cannot be opened.
    private static let entries = Mutex<[Entry: Int32]>([:])

    /// Claims the folder for this process.
    static func register(_ identity: Identity, path: String) throws(StorageError) {
        let folder = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        let isNew = entries.withLock { entries in
            let entry = Entry(identity: identity, process: getpid())
            guard entries[entry] == nil else { return false }
            entries[entry] = folder
            return true
        }
        guard isNew else {
            if folder >= 0 { close(folder) }
            throw StorageError(.alreadyOpen, call: "open", path: path)
        }
    }

    static func remove(_ identity: Identity) {
        let folder = entries.withLock { $0.removeValue(forKey: Entry(identity: identity, process: getpid())) }
        if let folder, folder >= 0 { close(folder) }
    }
}
