internal import Foundation
internal import Glibc
internal import LMDB

extension EventLog {
    /// Builds a log under a temporary name, and renames it when it is complete. A failure before that leaves nothing behind.
    package static func make<Report>(
        at new: String, suffix: String, _ body: (String) async throws(EventLogError) -> Report
    ) async throws(EventLogError) -> Report {
        let place = URL(fileURLWithPath: new)
        let unfinished = try UnfinishedFolder(place.path + "." + suffix, of: place.path)
        do throws(EventLogError) {
            let report = try await body(unfinished.path)
            try SmallFile.rename(unfinished.path, to: place.path)
            try SmallFile.syncFolder(place.deletingLastPathComponent().path)
            return report
        } catch {
            unfinished.remove()
            throw error
        }
    }
}

/// The folder in which a log is built before it is renamed. Its lock is on the folder itself, held from before anything is in it until it has its
/// final name: of several processes that create a log at one path only one proceeds, and none removes what another builds.
private final class UnfinishedFolder: Sendable {
    let path: String
    private let file: Int32

    /// Removes the remains of an interrupted run, and nothing else.
    /// - Throws: `.exists` if the log exists already, or the folder is something else; `.locked` while another process holds it.
    init(_ path: String, of new: String) throws(EventLogError) {
        self.path = path
        try Self.requireRoom(new)
        file = try Self.lock(path)
        do throws(EventLogError) {
            // Another process may have renamed its own folder before the lock was free.
            try Self.requireRoom(new)
            try Self.clear(path)
        } catch {
            try? OwnedFile.removeEmptyFolder(path)  // if it is not empty, it stays
            throw error
        }
    }

    deinit { close(file) }

    /// Does nothing once the folder has its final name: another process may build its own under this one.
    func remove() {
        guard OwnedFile.isOpen(file, at: path) else { return }
        try? OwnedFile.removeAll(path)  // the earlier failure is the one to report
    }

    private static func requireRoom(_ new: String) throws(EventLogError) {
        let names = try? FileManager.default.contentsOfDirectory(atPath: new)  // nil if it does not exist
        guard names?.isEmpty ?? !FileManager.default.fileExists(atPath: new) else { throw EventLogError(.exists, path: new) }
    }

    private static func lock(_ path: String) throws(EventLogError) -> Int32 {
        while true {
            var status = stat()
            if unsafe lstat(path, &status) == 0, status.st_mode & S_IFMT != S_IFDIR {
                let what = OwnedFile.kind(status.st_mode & S_IFMT)
                throw EventLogError(.exists, path: path, detail: "it is \(what), not the remains of an interrupted run")
            }
            try SmallFile.makeFolder(path)
            let file = unsafe open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            guard file >= 0 else {
                if errno == ENOENT || errno == ELOOP || errno == ENOTDIR { continue }
                throw SmallFile.failureToMake(errno, path)
            }
            guard flock(file, LOCK_EX | LOCK_NB) == 0 else {
                let number = errno
                close(file)
                guard number == EWOULDBLOCK else { throw SmallFile.failure(number, path) }
                throw EventLogError(.locked, path: path, detail: "another process is creating the ledger")
            }
            // The previous holder of the lock may have renamed the folder, or removed it.
            if OwnedFile.isOpen(file, at: path) { return file }
            close(file)
        }
    }

    private static func clear(_ path: String) throws(EventLogError) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []  // closed to this user: creating fails
        guard names.allSatisfy({ parts.contains($0.hasSuffix(".new") ? String($0.dropLast(4)) : $0) }) else {
            throw EventLogError(.exists, path: path, detail: "it is not the remains of an interrupted run")
        }
        if names.contains("LOCK") { try WriterLock(path: path + "/LOCK").release() }  // of a process that opened it
        try storing { () throws(StorageError) in
            for name in names { try OwnedFile.removeAll(path + "/" + name) }
        }
    }

    /// The files and folders of a log.
    private static let parts: Set = [
        "LOCK", "log", "signing.key", "keys.json", "consumers", "baselines", "checkpoints", "limit", "retention",
    ]
}
