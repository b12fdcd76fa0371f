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
    /// A generation that was the log is removed only when all events of its successor were read: an interruption may have damaged them.
    /// - Parameter store: the log, open and found intact at its end.
    /// - Throws: `.corrupt` if another generation has more; nothing was removed.
    func removeLeftovers(of generation: UInt32, _ store: LogStore) throws(EventLogError) {
        let others = generations.filter { $0 != generation }
        guard !others.isEmpty else { return }
        let log = try LeftoverLog(store)
        var spare: [UInt32] = []
        for other in others.sorted() where try isSpare(other, generation, log) { spare.append(other) }
        for other in spare { remove(generation: other) }
    }

    /// Refuses a generation where another one has more events, as a writer does before it opens.
    ///
    /// While a process writes, others are the copy that it prepares or what it is about to remove.
    /// - Parameter head: the generation's last event.
    func requireFurthest(_ generation: UInt32, head: UInt64) throws(EventLogError) {
        let others = generations.filter { $0 != generation }
        guard !others.isEmpty, (try? WriterLock.isHeld(lockPath)) != true else { return }  // without the file nobody writes
        for other in others.sorted() {
            // What cannot be read has nothing to compare; the next writer says what it is.
            guard let found = try? LeftoverLog.open(environmentPath(generation: other)) else { continue }  // see above
            found.store.environment.close()
            if found.head > head { throw behind(head, other, found.head) }
        }
    }

    private func behind(_ head: UInt64, _ other: UInt32, _ furthest: UInt64) -> EventLogError {
        lost(
            "the generation that it names ends with event \(head), generation \(other) with event \(furthest): name the right one, or move the other away"
        )
    }

    private func isSpare(_ other: UInt32, _ generation: UInt32, _ log: LeftoverLog) throws(EventLogError) -> Bool {
        // The log announces its successor before that takes over: any other later one never became the log.
        let wasLog = other < generation || other == log.successor
        let found: LeftoverLog?
        do throws(StorageError) {
            found = try LeftoverLog.open(environmentPath(generation: other))
        } catch {
            switch error.code {
            case .missing, .noSuchTable: return true  // it was barely begun
            case .alreadyOpen: return false
            // It may have events that this one lacks.
            case .permission: throw lost("generation \(other) may not be read by this user; give it back, or move it away")
            default:
                guard wasLog else { return true }
                guard other > generation else { return false }
                throw lost(
                    "generation \(other), which was to replace the one it names, cannot be read (\(error.reason))")
            }
        }
        guard let found else { return true }
        defer { found.store.environment.close() }
        guard found.head <= log.head, found.cut <= log.cut else {
            throw behind(log.head, other, found.head)
        }
        if wasLog { try requireWhole(log, beside: found, other) }
        return true
    }

    /// Reads all events of the log, as `verify` does. What is damaged in both generations is not there to be kept.
    private func requireWhole(
        _ log: LeftoverLog, beside other: LeftoverLog, _ number: UInt32
    ) throws(EventLogError) {
        let advice = "generation \(number) may have what is missing: name it instead, or move it away"
        let own = try log.store.verifyEvents()
        if let problem = own.problems.first {
            let same = try other.store.verifyEvents().problems
            guard own.problems.allSatisfy(same.contains) else {
                throw lost("the generation that it names is damaged (\(problem)), and \(advice)")
            }
        }
        guard let there = try other.store.root(size: other.head), let here = try log.store.root(size: other.head), here != there
        else { return }
        throw lost("the generation that it names has other events up to \(other.head), and \(advice)")
    }
}

/// A generation, and how many events it has.
private struct LeftoverLog {
    let store: LogStore
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
    static func open(_ path: String) throws(StorageError) -> LeftoverLog? {
        var options = EnvironmentOptions(access: .readOnly, maximumTables: 16, createsFolder: false)
        options.excludesWriters = true  // the writer's lock is held
        let environment = try Environment.open(path, options)
        do throws(StorageError) {
            if try environment.tableNames().contains("events") {
                return try LeftoverLog(store: LogStore(environment: environment))
            }
        } catch {
            environment.close()
            throw error
        }
        environment.close()
        return nil
    }

    private init(store: LogStore) throws(StorageError) {
        self.store = store
        let read = try store.environment.beginRead()
        let extent = try store.extent(read)
        (head, cut) = (extent.head, extent.cut)
        successor = try store.metaNumber("successor", read).map { UInt32(clamping: $0) }
    }
}
