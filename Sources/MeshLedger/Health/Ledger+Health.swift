import EventLog
import Foundation
import LMDB
import Logging
import Synchronization

extension Ledger.Maintenance {
    /// The state of the ledger. Nil if it is read only: `LedgerWriter.condition(at:)` asks the process that writes.
    public func condition() async -> LedgerHealth? {
        guard let log = ledger.log.condition() else { return nil }
        var condition = LedgerHealth(process: getpid(), log: log)
        (condition.failedFolds, condition.foldFailure) = await ledger.engine.failures
        if condition.foldFailure == nil { condition.foldFailure = await ledger.engine.commitFailure }
        condition.foldedThrough = await ledger.engine.foldedThrough
        return condition
    }
}

extension Ledger.RetentionControl {
    /// The size limit of the ledger.
    /// - Throws: `.corrupt` if the stored limit is damaged.
    public func sizeLimit() throws(LedgerError) -> SizeLimit { try SizeLimit.load(from: ledger.path) }

    /// Stores a size limit in the ledger, which the process that writes to it applies within seconds.
    /// - Throws: `.readOnly`, `.query` for a limit below 1, and errors of the disk.
    public func setSizeLimit(_ limit: SizeLimit) throws(LedgerError) {
        guard !ledger.isReadOnly else { throw ledger.readOnlyError }
        try limit.save(in: ledger.path)
    }
}

extension Ledger {
    /// The most bytes that the rows of an event take in all views together. Fewer events than these are too few to measure how many it is.
    private static let mostBytesOfEvent = 1_100
    private static let leastMeasured: UInt64 = 20_000

    /// Counts the views towards the log's limit, frees the slots of their dead readers, watches the others, and applies a changed limit.
    /// - Returns: whether there is a limit.
    @discardableResult
    func lookAfterSize() -> Bool {
        var limit = log.condition()?.sizeLimit ?? .max
        do throws(LedgerError) {
            limit = min(options.log.sizeLimit, try retention.sizeLimit().bytes ?? .max)
            log.setSizeLimit(limit)
        } catch {
            logger.warning("\(error.description); the previous limit stays in force")
        }
        let readers = served.environments().flatMap { view, environment in
            _ = try? environment.clearStaleReaders()  // closed meanwhile
            return (try? viewWatches.watch(environment).look(at: environment, as: view)) ?? []  // the same
        }
        // Baselines and rebuilds beside these views take as much again for a while, and do not count.
        let sizes = served.environments().compactMap { try? $0.environment.extent().usedSize }  // closed meanwhile: not in place
        let stored = served.committedThrough ?? log.first.rawValue - 1
        let (_, bytes, through) = viewBytes.withLock { last in
            // Views that are taken down, as by an erasure, come back.
            if sizes.count >= last.count { last = (sizes.count, sizes.reduce(0, +), stored) }
            return last
        }
        log.countOthers(bytes, through: through, bytesOfEvent: bytesOfEvent(bytes, through: through), readers: readers)
        return limit < EventLogOptions().sizeLimit
    }

    /// What the views' rows of an event take: those that are stored late must not exceed the limit.
    private func bytesOfEvent(_ bytes: Int, through stored: UInt64) -> Int {
        let measured = stored - min(stored, log.first.rawValue - 1)
        guard measured >= Self.leastMeasured else { return Self.mostBytesOfEvent }
        return min(Self.mostBytesOfEvent, bytes / Int(clamping: measured))
    }
}
