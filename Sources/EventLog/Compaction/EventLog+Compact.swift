internal import Foundation
internal import Glibc
internal import LMDB

extension EventLog {
    /// Writes the log anew without the free pages of its file, and gives the room back to the file system.
    ///
    /// The new file is a new generation beside the old one, which takes its place in one step: whatever interrupts this leaves the one or the
    /// other. Readers of other processes go on reading the old one, whose room is free when the last of them closes it; they see later
    /// events after opening the log again. Needs as much free room as the result takes.
    ///
    /// - Parameter path: a ledger that no process, this one included, has open for writing.
    /// - Throws: `.locked` with the writer's process, `.diskFull`, `.corrupt` when the copy is not what was to be copied; the log is as it was.
    public static func compact(at path: String) throws(EventLogError) -> LogCompaction {
        let folder = LogFolder(path: path)
        let old = try folder.readCurrent()
        let lock = try WriterLock(path: folder.lockPath)
        defer { lock.release() }
        guard old < .max, try folder.readCurrent() == old else { throw EventLogError(.storage, path: path) }
        folder.removeGenerations(except: old)
        do throws(EventLogError) {
            let compaction = try write(old + 1, from: old, folder)
            try folder.writeCurrent(generation: old + 1)
            folder.removeGenerations(except: old + 1)
            return compaction
        } catch {
            folder.removeGenerations(except: (try? folder.readCurrent()) ?? old)  // the first failure is the one to tell
            throw error
        }
    }

    private static func write(
        _ new: UInt32, from old: UInt32, _ folder: LogFolder
    ) throws(EventLogError) -> LogCompaction {
        let (source, target) = (folder.environmentPath(generation: old), folder.environmentPath(generation: new))
        guard unsafe mkdir(target, 0o700) == 0 else { throw SmallFile.failure(errno, target) }
        let before = try copy(source, to: target)
        let file = target + "/data.mdb"
        guard unsafe chmod(file, 0o600) == 0 else { throw SmallFile.failure(errno, file) }
        try SmallFile.sync(file)
        try SmallFile.syncFolder(target)
        let after = try contents(target)
        guard after == before else {
            throw EventLogError(.corrupt, path: target, detail: "the copy has not what the log has, which stays as it was")
        }
        return LogCompaction(
            sizeBefore: try SmallFile.size(source + "/data.mdb"), sizeAfter: try SmallFile.size(file), generation: new)
    }

    /// - Returns: what the copy must have.
    private static func copy(_ source: String, to target: String) throws(EventLogError) -> LogContents {
        try withLog(source) { (store) throws(EventLogError) in
            let contents = try LogContents(store)
            try storing { () throws(StorageError) in try store.environment.copyCompacted(to: target) }
            return contents
        }
    }

    private static func contents(_ path: String) throws(EventLogError) -> LogContents {
        try withLog(path) { (store) throws(EventLogError) in
            _ = try LogTail(store, checksums: true)
            return try LogContents(store)
        }
    }

    private static func withLog(
        _ path: String, _ body: (LogStore) throws(EventLogError) -> LogContents
    ) throws(EventLogError) -> LogContents {
        let options = EnvironmentOptions(access: .readOnly, maximumTables: 16, createsFolder: false)
        let environment = try storing { () throws(StorageError) in try Environment.open(path, options) }
        defer { environment.close() }
        return try body(try storing { () throws(StorageError) in try LogStore(environment: environment) })
    }
}

/// The numbers of rows by which a copy is compared with what was copied.
private struct LogContents: Equatable {
    var head: UInt64
    var lastSealed: UInt64
    var rows: [Int]

    init(_ store: LogStore) throws(EventLogError) {
        let (extent, rows) = try storing { () throws(StorageError) -> (LogExtent, [Int]) in
            let read = try store.environment.beginRead()
            var rows: [Int] = []
            for table in [
                store.events, store.sealed, store.arrivals, store.salts, store.tree, store.sources, store.cursors, store.meta,
            ] {
                rows.append(try read.count(table))
            }
            return (try store.extent(read), rows)
        }
        head = extent.head
        lastSealed = extent.lastSealed
        self.rows = rows
    }
}

extension LogFolder {
    /// Removes what other generations have left. Whoever has one of them open can read it until it is closed.
    fileprivate func removeGenerations(except current: UInt32) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: logPath)) ?? []  // then they stay
        for number in names.compactMap(UInt32.init) where number != current {
            try? FileManager.default.removeItem(atPath: environmentPath(generation: number))  // the next compaction tries again
        }
    }
}
