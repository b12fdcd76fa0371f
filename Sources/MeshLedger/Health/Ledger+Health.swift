import EventLog
import Foundation
import LMDB
import Logging

extension Ledger {
    /// The state of the ledger. Nil if it is read only: `LedgerWriter.condition(at:)` asks the process that writes.
    public func condition() async -> LedgerHealth? {
        guard let log = log.condition() else { return nil }
        var condition = LedgerHealth(process: getpid(), log: log)
        (condition.failedFolds, condition.foldFailure) = await engine.failures
        if condition.foldFailure == nil { condition.foldFailure = await engine.commitFailure }
        condition.foldedThrough = await engine.foldedThrough
        return condition
    }

    /// The size limit of the ledger.
    /// - Throws: `.corrupt` if the stored limit is damaged.
    public func sizeLimit() throws(LedgerError) -> SizeLimit { try SizeLimit.load(from: path) }

    /// Stores a size limit in the ledger, which the process that writes to it applies within seconds.
    /// - Throws: `.readOnly`, `.query` for a limit below 1, and errors of the disk.
    public func setSizeLimit(_ limit: SizeLimit) throws(LedgerError) {
        guard !isReadOnly else { throw readOnlyError }
        try limit.save(in: path)
    }

    /// Counts the views towards the log's limit, frees the slots of their dead readers, watches the others, and applies a changed limit.
    func lookAfterSize() {
        do throws(LedgerError) {
            log.setSizeLimit(min(options.log.sizeLimit, try sizeLimit().bytes ?? .max))
        } catch {
            logger.warning("\(error.description); the previous limit stays in force")
        }
        let readers = served.environments().flatMap { view, environment in
            _ = try? environment.clearStaleReaders()  // closed meanwhile
            return (try? viewWatches.watch(environment).look(at: environment, as: view)) ?? []  // the same
        }
        log.countOthers(Self.bytesOfViews(path), readers: readers)
    }

    /// The size of the files of all views, including those that are being built and baselines, in bytes.
    static func bytesOfViews(_ ledger: String) -> Int {
        ["views", "baselines"].reduce(0) { sum, folder in
            let files = FileManager.default.enumerator(atPath: ledger + "/" + folder)?.compactMap { $0 as? String } ?? []
            return files.filter { $0.hasSuffix("/data.mdb") }.reduce(sum) { sum, file in
                var status = stat()
                return unsafe sum + (stat("\(ledger)/\(folder)/\(file)", &status) == 0 ? Int(status.st_size) : 0)
            }
        }
    }
}
