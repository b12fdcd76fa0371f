import Foundation
internal import Glibc

/// Where ledgers in memory are. A process that is killed leaves its own behind; they would take memory until the machine is started again.
enum TemporaryFolders {
    private static let folder = "/dev/shm"
    private static let prefix = "meshledger-"
    /// In seconds: a younger one may not be locked yet.
    private static let leastAge = 60

    static func newPath() -> String { "\(folder)/\(prefix)\(UUID().uuidString)" }

    /// Removes those that no process has open, as far as that is possible.
    static func removeAbandoned() {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []  // told when one is made
        for name in names where name.hasPrefix(prefix) && UUID(uuidString: String(name.dropFirst(prefix.count))) != nil {
            removeIfAbandoned(folder + "/" + name)
        }
    }

    private static func removeIfAbandoned(_ path: String) {
        var status = stat()
        let file = unsafe open(path + "/LOCK", O_RDWR | O_CLOEXEC)
        guard file >= 0 else { return }
        defer { close(file) }
        guard unsafe fstat(file, &status) == 0, status.st_uid == geteuid(), time(nil) - status.st_mtim.tv_sec > leastAge,
            flock(file, LOCK_EX | LOCK_NB) == 0
        else { return }
        try? FileManager.default.removeItem(atPath: path)  // another process may be removing it
    }
}
