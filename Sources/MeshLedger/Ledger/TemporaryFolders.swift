import Foundation
internal import Glibc
internal import LMDB

/// The folders of ledgers and views in memory. A killed process leaves its folders behind; they would take memory until the machine restarts, and
/// might contain data that is erased later.
enum TemporaryFolders {
    private static let memory = "/dev/shm"
    private static let prefix = "meshledger-"
    /// In seconds: a younger one may not be locked yet.
    private static let leastAge = 10
    /// In seconds: an empty one that its process has just made, and will lock.
    private static let leastAgeEmpty = 2
    /// In seconds: one without a lock, as earlier versions made for views, is in use for less time than this.
    private static let leastAgeUnlocked = 86_400

    /// The temporary folder, if memory is not available.
    static var folder: String { unsafe access(memory, W_OK) == 0 ? memory : NSTemporaryDirectory() }

    private static let mostAttempts = 3

    /// Makes a folder at a new path. One whose process stands still for seconds before it has locked it looks abandoned to others, which remove it: then
    /// another one is made.
    static func make<Made>(_ body: (String) throws -> Made) throws -> (path: String, made: Made) {
        removeAbandoned()
        var attempts = 1
        while true {
            let path = "\(folder)/\(prefix)\(UUID().uuidString)"
            do {
                return (path, try body(path))
            } catch {
                // Others may still be removing it, so what the error says counts, too.
                let isGone = unsafe access(path, F_OK) != 0 && errno == ENOENT
                guard attempts < mostAttempts, isGone || LedgerError(error, path: path).code == .missing else { throw error }
                attempts += 1
            }
        }
    }

    /// Removes the folders that no process has open, as far as possible: for the superuser, those of all users.
    static func removeAbandoned() {
        for path in all() { _ = removeIfAbandoned(path) }
    }

    /// Waits until also those that a killed process has just left are old enough, since nothing of what they hold may stay.
    static func removeAllAbandoned() async {
        var left = all()
        // It ends whatever the clock does meanwhile, and however many folders another user makes.
        for _ in 0...10 * (leastAge + 1) {
            left.removeAll { removeIfAbandoned($0) != .tooYoung }
            if left.isEmpty { return }
            try? await Task.sleep(for: .milliseconds(100))  // if cancelled, it does not wait
        }
    }

    private static func all() -> [String] {
        let folder = folder
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []  // reported when one is made
        return names.filter { $0.hasPrefix(prefix) && UUID(uuidString: String($0.dropFirst(prefix.count))) != nil }
            .map { folder + "/" + $0 }
    }

    private enum Finding {
        case gone, inUse, tooYoung
    }

    private static func removeIfAbandoned(_ path: String) -> Finding {
        var status = stat()
        guard unsafe lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR,
            status.st_uid == geteuid() || geteuid() == 0
        else { return .inUse }
        var file: Int32?
        do throws(StorageError) {
            file = try OwnedFile.open(path + "/LOCK", O_RDWR)
        } catch {
            // Whether it is locked is unknown; without a lock, its age decides.
            guard error.code == .missing else { return .inUse }
        }
        defer { if let file { close(file) } }
        if let file {
            guard unsafe fstat(file, &status) == 0 else { return .inUse }
            // Locking it could be in the way of the process that has just made it.
            guard abs(time(nil) - status.st_mtim.tv_sec) > leastAge else { return isAlive(path) ? .inUse : .tooYoung }
            guard flock(file, LOCK_EX | LOCK_NB) == 0 else { return .inUse }
        } else {
            guard abs(time(nil) - status.st_mtim.tv_sec) > leastAgeEmpty else { return .tooYoung }
            if unsafe rmdir(path) == 0 { return .gone }
            guard time(nil) - status.st_mtim.tv_sec > leastAgeUnlocked else { return .inUse }
        }
        try? OwnedFile.removeAll(path)  // another process may be removing it
        return .gone
    }

    /// Whether a process has the number that is in the lock.
    private static func isAlive(_ path: String) -> Bool {
        let text = (try? OwnedFile.contents(path + "/LOCK", limit: 32)).flatMap { $0 } ?? []  // removed meanwhile
        let number = pid_t(String(decoding: text, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines))
        return number.map { kill($0, 0) == 0 || errno == EPERM } ?? false
    }
}
