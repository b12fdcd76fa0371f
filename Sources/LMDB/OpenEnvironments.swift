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

    private struct Held {
        /// Open, so that no new folder gets its inode if it is removed. -1 if it cannot be opened.
        let folder: Int32
        /// Whether it only waits for a transaction of another thread to end.
        var isClosing = false
    }

    private static let entries = Mutex<[Entry: Held]>([:])
    /// How long an environment that is being closed is waited for: transactions of this program take less.
    private static let mostPauses = 1_000
    private static let pause_us: UInt32 = 1_000

    /// Claims the folder for this process.
    static func register(_ identity: Identity, path: String) throws(StorageError) {
        let folder = unsafe open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        let entry = Entry(identity: identity, process: getpid())
        for _ in 0..<mostPauses {
            let other = entries.withLock { entries in
                let other = entries[entry]
                if other == nil { entries[entry] = Held(folder: folder) }
                return other
            }
            guard let other else { return }
            guard other.isClosing else { break }
            usleep(pause_us)
        }
        if folder >= 0 { close(folder) }
        throw StorageError(.alreadyOpen, call: "open", path: path)
    }

    static func noteClosing(_ identity: Identity) {
        entries.withLock { $0[Entry(identity: identity, process: getpid())]?.isClosing = true }
    }

    static func remove(_ identity: Identity) {
        let held = entries.withLock { $0.removeValue(forKey: Entry(identity: identity, process: getpid())) }
        if let held, held.folder >= 0 { close(held.folder) }
    }
}
