internal import Foundation
internal import LMDB

extension LogFolder {
    /// Removes a generation whose events are all in the current one. A process that has it open can read it until it closes it.
    func remove(generation: UInt32) {
        // Otherwise a power cut could bring back a file `current` that names it.
        guard (try? SmallFile.syncFolder(logPath)) != nil else { return }  // the next opening tries again
        let path = environmentPath(generation: generation)
        guard (try? SmallFile.requireFolder(path)) != nil,  // anything but a folder is not ours
            let names = try? FileManager.default.contentsOfDirectory(atPath: path),  // gone, or the next opening tries again
            names.allSatisfy({ $0 == "data.mdb" || $0 == "lock.mdb" })
        else { return }
        try? OwnedFile.removeAll(path)  // the next opening tries again
    }

    /// Removes what an interruption left beside the log, but only if it has no event that the log lacks. What cannot be read stays.
    ///
    /// - Parameter store: the log, open and found intact.
    /// - Throws: `.corrupt` if another generation has more; nothing was removed.
    func removeLeftovers(of generation: UInt32, _ store: LogStore) throws(EventLogError) {
        let others = generations.filter { $0 != generation }
        guard !others.isEmpty else { return }
        let log = try LeftoverLog(store)
        var spare: [UInt32] = []
        for other in others.sorted() where try isSpare(other, log, successor: log.successor == other, isLater: other > generation)
        {
            spare.append(other)
        }
        for other in spare { remove(generation: other) }
    }

    private func isSpare(_ other: UInt32, _ log: LeftoverLog, successor: Bool, isLater: Bool) throws(EventLogError) -> Bool {
        let path = environmentPath(generation: other)
        var options = EnvironmentOptions(access: .readOnly, maximumTables: 16, createsFolder: false)
        options.excludesWriters = true  // the writer's lock is held
        let found: LeftoverLog?
        do throws(StorageError) {
            let environment = try Environment.open(path, options)
            defer { environment.close() }
            found = try LeftoverLog(environment: environment)
        } catch {
            switch error.code {
            case .missing, .noSuchTable: return true  // it was barely begun
            case .alreadyOpen: return false
            default:
                // A copy that never became the log: the log announces its successor before that takes over.
                if isLater && !successor { return true }
                guard isLater else { return false }
                throw lost(
                    "generation \(other), which was to replace the one it names, cannot be read (\(error.reason))")
            }
        }
        guard let found, found.head > log.head || found.cut > log.cut else { return true }
        throw lost(
            "the generation that it names ends with event \(log.head), generation \(other) with event \(found.head): name the right one, or move the other away"
        )
    }
}

/// How many events a generation has, as far as needed to decide whether another one has all of them.
private struct LeftoverLog {
    let (head, cut): (UInt64, UInt64)
    let successor: UInt32?

    init(_ store: LogStore) throws(EventLogError) {
        do throws(StorageError) {
            try self.init(store: store)
        } catch {
            throw EventLogError(error)
        }
    }

    /// Nil if no log was created there.
    init?(environment: Environment) throws(StorageError) {
        guard try environment.tableNames().contains("events") else { return nil }
        try self.init(store: LogStore(environment: environment))
    }

    private init(store: LogStore) throws(StorageError) {
        let read = try store.environment.beginRead()
        let extent = try store.extent(read)
        (head, cut) = (extent.head, extent.cut)
        successor = try store.metaNumber("successor", read).map { UInt32(clamping: $0) }
    }
}
