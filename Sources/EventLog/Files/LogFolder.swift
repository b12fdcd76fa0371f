internal import Foundation
internal import Glibc
internal import LMDB

/// Where the log is in the ledger's folder, and which generation of it is current.
package struct LogFolder: Sendable {
    /// The format of the log's files that this program writes, and the newest that it reads.
    static let format: UInt32 = 2

    /// The oldest format that this program reads.
    static let oldestFormat: UInt32 = 2

    package let path: String
    package var logPath: String { path + "/log" }
    var currentPath: String { logPath + "/current" }
    var lockPath: String { path + "/LOCK" }
    package var signingKeyPath: String { path + "/signing.key" }

    package init(path: String) { self.path = path }

    package func environmentPath(generation: UInt32) -> String { "\(logPath)/\(generation)" }

    /// Creates the folders that a new log needs.
    /// - Returns: whether this created the ledger's own folder.
    func makeFolders() throws(EventLogError) -> Bool {
        try SmallFile.requireFolder(logPath)
        // Only its creator has access to the ledger's folder.
        var isNew = true
        do throws(StorageError) {
            try OwnedFile.makeNewFolder(path, isGiven: false)
        } catch {
            guard error.number == EEXIST else {
                throw error.number > 0 ? SmallFile.failureToMake(error.number, path) : SmallFile.failure(error)
            }
            isNew = false
        }
        try SmallFile.makeFolder(logPath)
        return isNew
    }

    /// A folder without write permission is read only, whatever the modes of its files are.
    func requireWritable() throws(EventLogError) {
        guard unsafe access(path, W_OK) != 0 else { return }
        throw failure(errno, path)
    }

    var hasCurrent: Bool { unsafe access(currentPath, F_OK) == 0 }

    /// The generation that is the log.
    package func readCurrent() throws(EventLogError) -> UInt32 {
        for folder in ["/log", "/views", "/baselines", "/consumers"] { try SmallFile.requireFolder(path + folder) }
        guard hasCurrent else {
            guard errno == ENOENT || errno == ENOTDIR else { throw failure(errno, currentPath) }
            var status = stat()
            if unsafe stat(path, &status) != 0 { throw EventLogError(.missing, path: path) }
            if !generations.isEmpty { throw lost("it is missing; after an interrupted `init`, run that again") }
            throw EventLogError(isEmptyFolder ? .missing : .notALog, path: path)
        }
        let text: String
        do throws(EventLogError) {
            text = try CheckedText.read(currentPath) ?? ""
        } catch {
            guard error.code == .corrupt else { throw error }
            throw lost(error.detail ?? "it is damaged")
        }
        return try generation(named: text)
    }

    /// - Parameter text: what `current` said a moment ago.
    func generation(named text: String) throws(EventLogError) -> UInt32 {
        let lines = text.split(separator: "\n").map { $0.split(separator: " ") }
        guard lines.count >= 2, lines[0].count == 2, lines[0][0] == "format", let format = UInt32(lines[0][1]) else {
            let what = "it does not start with a format"
            throw generations.isEmpty ? EventLogError(.notALog, path: currentPath, detail: what) : lost(what)
        }
        guard format <= Self.format else {
            throw EventLogError(.newerFormat, path: path, detail: "format \(format); this program reads up to \(Self.format)")
        }
        guard format >= Self.oldestFormat else {
            throw EventLogError(
                .olderFormat, path: path, detail: "format \(format); this program reads from \(Self.oldestFormat)")
        }
        guard lines.count == 2, lines[1].count == 2, lines[1][0] == "generation", let generation = UInt32(lines[1][1]) else {
            throw lost("it names no generation")
        }
        guard !generations.contains(generation) else { return generation }
        // Another process may have put a new generation in its place since, and removed this one.
        if let now = try CheckedText.read(currentPath), now != text { return try self.generation(named: now) }
        throw lost("it names generation \(generation), which is not there")
    }

    /// The generations that have a folder, finished or not.
    var generations: [UInt32] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: logPath)) ?? []  // it has no generations
        return names.compactMap { UInt32($0) }
    }

    /// The error for a log whose events exist but cannot be located.
    func lost(_ detail: String) -> EventLogError {
        let there = generations.sorted().map(String.init).joined(separator: ", ")
        return EventLogError(
            .corrupt, path: currentPath, detail: "\(detail); \(there.isEmpty ? "no generation" : "generation \(there)") is there")
    }

    /// Makes `generation` the current log, atomically even across a power cut.
    func writeCurrent(generation: UInt32) throws(EventLogError) {
        try SmallFile.syncFolder(environmentPath(generation: generation))
        try CheckedText.replace(currentPath, with: "format \(Self.format)\ngeneration \(generation)\n")
        try SmallFile.syncFolder(path)
    }

    /// Syncs the folder that contains the ledger's own: otherwise a power cut may take a new ledger with all that is in it.
    func syncAbove() throws(EventLogError) {
        do throws(EventLogError) {
            try SmallFile.syncFolder(URL(fileURLWithPath: path).deletingLastPathComponent().path)
        } catch {
            guard error.code == .permission else { throw error }  // who may not read a folder cannot sync it
        }
    }

    /// Whether a log may be created here: the folder is missing or empty, or contains only what an interrupted creation left.
    var isFreeForLog: Bool { unsafe access(path, F_OK) != 0 || isEmptyFolder || access(logPath, F_OK) == 0 }

    private var isEmptyFolder: Bool {
        guard let folder = unsafe opendir(path) else { return false }
        defer { unsafe closedir(folder) }
        var count = 0
        while unsafe readdir(folder) != nil { count += 1 }
        return count <= 2
    }

    private func failure(_ number: Int32, _ path: String) -> EventLogError { SmallFile.failure(number, path) }
}
