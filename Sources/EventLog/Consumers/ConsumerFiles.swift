internal import Glibc
internal import LMDB

/// The files of consumers in a ledger's folder: `consumers/NAME` holds the position, `consumers/NAME.lock` the running process.
///
/// Lock files stay when a consumer is removed: a lock on a deleted file would not exclude others.
package struct ConsumerFiles: Sendable {
    static let longestName = 64
    /// The suffix of the positions of consumers that follow a view.
    package static let viewSuffix = ".view"

    let folder: String

    package init(ledger: String) { folder = ledger + "/consumers" }

    package func positionPath(_ name: String) -> String { "\(folder)/\(name)" }
    func lockPath(_ name: String) -> String { "\(folder)/\(name).lock" }

    /// Refuses anything but a plain file name; without dots it never collides with the other files.
    func require(_ name: String) throws(EventLogError) {
        let isPlain = name.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                true
            default: false
            }
        }
        guard isPlain, !name.isEmpty, name.utf8.count <= Self.longestName else {
            throw EventLogError(.consumerName, path: folder, detail: "“\(name)”")
        }
    }

    func makeFolder() throws(EventLogError) {
        try SmallFile.requireFolder(folder)
        try SmallFile.makeFolder(folder, mode: .likeFolder)
    }

    /// The last acknowledged sequence, nil for a consumer that does not exist.
    package func position(_ name: String) throws(EventLogError) -> UInt64? {
        let path = positionPath(name)
        guard let text = try CheckedText.read(path) else { return nil }
        let words = text.split(whereSeparator: \.isWhitespace)
        guard words.count == 2, words[0] == "acknowledged", let sequence = UInt64(words[1]), text.hasSuffix("\n") else {
            throw EventLogError(.corrupt, path: path, detail: "it contains no sequence")
        }
        return sequence
    }

    /// Makes a consumer of a view begin again with all rows.
    /// - Parameter file: with its suffix.
    package func beginWithRows(_ file: String) throws(EventLogError) {
        let words = try (CheckedText.read(positionPath(file)) ?? "").split(whereSeparator: \.isWhitespace)
        guard words.count >= 2, words[0] == "view" else { return }  // damaged: opening it reports that
        try CheckedText.replace(positionPath(file), with: "view \(words[1]) rows\n")
        try SmallFile.syncFolder(folder)
    }

    package func store(_ sequence: UInt64, _ name: String) throws(EventLogError) {
        try CheckedText.replace(positionPath(name), with: "acknowledged \(sequence)\n")
        try SmallFile.syncFolder(folder)
    }

    /// Claims the name for this process, for the lifetime of the lock.
    func lock(_ name: String) throws(EventLogError) -> WriterLock {
        var attempt = 0
        while true {
            do throws(EventLogError) {
                return try WriterLock(path: lockPath(name))
            } catch {
                guard error.code == .locked || error.code == .alreadyOpen else { throw error }
                attempt += 1
                // Listing consumers holds the lock only briefly.
                guard attempt < 10 else {
                    throw EventLogError(.consumerHeld, path: positionPath(name), holder: error.holder)
                }
                usleep(10_000)
            }
        }
    }

    /// The process that runs the consumer, nil when it does not run.
    func holder(_ name: String) -> Int32? {
        let path = lockPath(name)
        guard let file = try? SmallFile.open(path, O_RDONLY) else { return nil }  // a lock that cannot be read is not reported
        defer { close(file) }
        guard flock(file, LOCK_SH | LOCK_NB) != 0 else { return nil }
        let text = try? SmallFile.read(file, path)  // without a number the process is not named
        return text?.split(separator: "\n").first.flatMap { Int32($0) }
    }

    /// - Parameter suffix: of the files; names have no dots.
    package func names(endingIn suffix: String = "") throws(EventLogError) -> [String] {
        try SmallFile.requireFolder(folder)
        guard let entries = unsafe opendir(folder) else {
            guard errno == ENOENT else { throw SmallFile.failure(errno, folder) }
            return []
        }
        defer { unsafe closedir(entries) }
        var names: [String] = []
        while let entry = unsafe readdir(entries) {
            let name = unsafe withUnsafeBytes(of: entry.pointee.d_name) {
                unsafe String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard name.hasSuffix(suffix) || suffix.isEmpty else { continue }
            let plain = String(name.dropLast(suffix.count))
            if !plain.contains(".") { names.append(plain) }
        }
        return names.sorted()
    }

    func remove(_ name: String) throws(EventLogError) {
        try SmallFile.remove(positionPath(name))
        try SmallFile.syncFolder(folder)
    }
}
