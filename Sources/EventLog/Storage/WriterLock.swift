internal import Glibc
internal import Synchronization

/// The right to write to a ledger: a lock on its file LOCK, which holds the writer's process number. The system takes the lock
/// back when the process ends, however it ends.
///
/// Synchronization: `isHeld` is behind its mutex.
final class WriterLock: Sendable {
    private let file: Int32
    private let isHeld = Mutex(true)

    init(path: String) throws(EventLogError) {
        let file = try SmallFile.open(path, O_RDWR | O_CREAT)
        do throws(EventLogError) {
            guard flock(file, LOCK_EX | LOCK_NB) == 0 else {
                guard errno == EWOULDBLOCK else { throw SmallFile.failure(errno, path) }
                if flock(file, LOCK_SH | LOCK_NB) == 0 {
                    throw EventLogError(.locked, path: path, detail: "a reader without permission to write keeps writers away")
                }
                let holder = try Int32(SmallFile.read(file, path).split(separator: "\n").first ?? "")
                throw EventLogError(holder == getpid() ? .alreadyOpen : .locked, path: path, holder: holder)
            }
            guard ftruncate(file, 0) == 0 else { throw SmallFile.failure(errno, path) }
            try SmallFile.write(file, "\(getpid())\n", path)
        } catch {
            close(file)
            throw error
        }
        self.file = file
    }

    /// Whether the file at the path is still the one that is locked: else the ledger was moved, removed or replaced.
    func isInPlace(at path: String) -> Bool {
        var (own, found) = (stat(), stat())
        guard unsafe fstat(file, &own) == 0, unsafe lstat(path, &found) == 0 else { return false }
        return own.st_dev == found.st_dev && own.st_ino == found.st_ino
    }

    deinit { release() }

    var isHeldNow: Bool { isHeld.withLock { $0 } }

    func release() {
        let wasHeld = isHeld.withLock { isHeld in
            defer { isHeld = false }
            return isHeld
        }
        guard wasHeld else { return }
        // A child that was forked and has not reached its exec yet shares the lock, and would hold it after the close.
        flock(file, LOCK_UN)
        close(file)
    }
}
