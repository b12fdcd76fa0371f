internal import Glibc
internal import LMDB
internal import Synchronization

/// The right to write to a ledger: a lock on its file LOCK, which holds the writer's process number and the namespace of that number.
/// The system releases the lock when the process ends, however it ends.
///
/// Synchronization: `isHeld` is behind its mutex, as are the locks that this process holds.
final class WriterLock: Sendable {
    /// Process numbers do not identify this process: two containers can use the same number.
    private static let heldHere = Mutex<Set<OwnedFile.Identity>>([])

    private let file: Int32
    private let identity: OwnedFile.Identity
    private let isHeld = Mutex(true)

    init(path: String) throws(EventLogError) {
        let file = try SmallFile.open(path, O_RDWR | O_CREAT, mode: .groupLikeFolder)
        do throws(EventLogError) {
            var status = stat()
            guard unsafe fstat(file, &status) == 0 else { throw SmallFile.failure(errno, path) }
            let identity = OwnedFile.Identity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
            guard flock(file, LOCK_EX | LOCK_NB) == 0 else {
                guard errno == EWOULDBLOCK else { throw SmallFile.failure(errno, path) }
                if flock(file, LOCK_SH | LOCK_NB) == 0 {
                    throw EventLogError(.locked, path: path, detail: "a reader without write permission is excluding writers")
                }
                if Self.heldHere.withLock({ $0.contains(identity) }) {
                    throw EventLogError(.alreadyOpen, path: path, holder: getpid())
                }
                throw Self.held(path, by: try SmallFile.read(file, path))
            }
            // Another file that is hard-linked here must not be emptied.
            if status.st_nlink > 1, try !Self.isLock(SmallFile.read(file, path)) {
                throw EventLogError(.foreign, path: path, detail: "it is a hard link to another file, not a lock")
            }
            let namespace = ProcessNamespace.own.map { "namespace \($0)\n" } ?? ""
            let text = "\(getpid())\n\(namespace)"
            // It is never empty between, for a process that finds it locked.
            try SmallFile.write(file, text, path)
            guard ftruncate(file, off_t(text.utf8.count)) == 0 else { throw SmallFile.failure(errno, path) }
            self.identity = identity
        } catch {
            close(file)
            throw error
        }
        self.file = file
        Self.heldHere.withLock { _ = $0.insert(identity) }
    }

    /// - Parameter text: what the file holds.
    private static func held(_ path: String, by text: String) -> EventLogError {
        let lines = text.split(separator: "\n").map { $0.split(separator: " ") }
        let holder = Int32(lines.first?.first ?? "")
        let namespace = lines.first { $0.count == 2 && $0[0] == "namespace" }.flatMap { UInt64($0[1]) }
        let isElsewhere = namespace != nil && ProcessNamespace.own != nil && namespace != ProcessNamespace.own
        guard let holder, isElsewhere || holder == getpid() else { return EventLogError(.locked, path: path, holder: holder) }
        return EventLogError(.locked, path: path, detail: "process \(holder) in another container")
    }

    /// Whether a text is one that a writer stores in the file.
    private static func isLock(_ text: String) -> Bool {
        let lines = text.split(separator: "\n").map { $0.split(separator: " ") }
        guard let first = lines.first, first.count == 1, Int32(first[0]) != nil else { return false }
        return lines.dropFirst().allSatisfy { $0.count == 2 && $0[0] == "namespace" }
    }

    /// Whether the file at the path is still the locked one; otherwise the ledger was moved, removed or replaced.
    func isInPlace(at path: String) -> Bool { OwnedFile.isOpen(file, at: path) }

    /// Whether a process holds the lock now. The test itself briefly holds it; a writer that starts meanwhile tries again.
    static func isHeld(_ path: String) throws(EventLogError) -> Bool {
        let file = try SmallFile.open(path, O_RDONLY)
        defer { close(file) }
        guard flock(file, LOCK_SH | LOCK_NB) != 0 else { return false }
        guard errno == EWOULDBLOCK else { throw SmallFile.failure(errno, path) }
        return true
    }

    deinit { release() }

    var isHeldNow: Bool { isHeld.withLock { $0 } }

    func release() {
        let wasHeld = isHeld.withLock { isHeld in
            defer { isHeld = false }
            return isHeld
        }
        guard wasHeld else { return }
        Self.heldHere.withLock { _ = $0.remove(identity) }
        // A forked child that has not called exec yet shares the lock, and would hold it after the close.
        flock(file, LOCK_UN)
        close(file)
    }
}

/// The namespace in which this process has its number.
enum ProcessNamespace {
    /// Nil if there is no `/proc`.
    static let own: UInt64? = {
        var status = stat()
        return unsafe stat("/proc/self/ns/pid", &status) == 0 ? UInt64(status.st_ino) : nil
    }()
}
