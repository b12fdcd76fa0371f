internal import Glibc
internal import Synchronization

/// The environments that this process has open, by device and inode of their folder.
///
/// LMDB must not open one file twice in a process: closing either would release the process's locks on both.
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

    private static let entries = Mutex<Set<Entry>>([])

    /// Claims the folder for this process.
    static func register(_ identity: Identity, path: String) throws(StorageError) {
        let isNew = entries.withLock { $0.insert(Entry(identity: identity, process: getpid())).inserted }
        guard isNew else { throw StorageError(.alreadyOpen, call: "open", path: path) }
    }

    static func remove(_ identity: Identity) {
        _ = entries.withLock { $0.remove(Entry(identity: identity, process: getpid())) }
    }
}
