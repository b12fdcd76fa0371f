internal import Glibc
internal import Synchronization

/// Excludes writers while a ledger is read without LMDB's lock files: a shared lock on its file LOCK, which requires only
/// permission to read it.
///
/// Without an entry in LMDB's table of readers, a reader could see pages that a writer reuses. A writer holds LOCK exclusively for as
/// long as it may write, so while a reader shares it, no writer runs, and none starts before the reader has ended.
///
/// Synchronization: `isHeld` is behind its mutex.
final class ReaderLock: Sendable {
    private let file: Int32
    private let isHeld = Mutex(true)

    /// - Returns: nil if LMDB's own locks can be used.
    /// - Throws: `.writerRunning` while a process writes; `.permission` if LOCK may not be read or is missing.
    static func ifNeeded(_ folder: LogFolder, generation: UInt32) throws(EventLogError) -> ReaderLock? {
        guard !canUseLocks(folder.environmentPath(generation: generation)) else { return nil }
        let file: Int32
        do throws(EventLogError) {
            file = try SmallFile.open(folder.lockPath, O_RDONLY)
        } catch {
            guard error.code == .missing else { throw error }
            throw EventLogError(
                .permission, path: folder.lockPath,
                detail: "the file that keeps writers away from readers without locks is missing")
        }
        guard flock(file, LOCK_SH | LOCK_NB) == 0 else {
            let number = errno
            close(file)
            guard number == EWOULDBLOCK else { throw SmallFile.failure(number, folder.lockPath) }
            throw EventLogError(.writerRunning, path: folder.path)
        }
        return ReaderLock(file: file)
    }

    private static func canUseLocks(_ environment: String) -> Bool {
        let locks = environment + "/lock.mdb"
        if unsafe access(locks, F_OK) != 0 { return unsafe access(environment, W_OK) == 0 }
        return unsafe access(locks, R_OK | W_OK) == 0
    }

    private init(file: Int32) { self.file = file }

    deinit { release() }

    func release() {
        let wasHeld = isHeld.withLock { isHeld in
            defer { isHeld = false }
            return isHeld
        }
        guard wasHeld else { return }
        // A forked child that has not called exec yet shares the lock, and would hold it after the close.
        flock(file, LOCK_UN)
        close(file)
    }
}
