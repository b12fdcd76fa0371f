public import EventLog
import LMDB
import Logging
public import Projections

extension Ledger {
    /// What the policy would drop now; nil where that is nothing. Changes nothing.
    public func retentionPlan(
        _ policy: RetentionPolicy, now: Timestamp = .now
    ) throws(LedgerError) -> RetentionPlan? {
        do throws(EventLogError) {
            return try log.retentionPlan(olderThan: policy.oldest(at: now), largerThan: policy.largestBytes)
        } catch {
            throw LedgerError(error)
        }
    }

    /// Drops all events up to and including `last`, a multiple of 256, after the views have made baselines of them: what each view had made of these
    /// events stays, and a view that is built again begins with it.
    ///
    /// - Parameter checkpoints: sizes of checkpoints that are to be comparable afterwards, beside those that this ledger gave out.
    /// - Throws: what `EventLog.cut` does; nothing was dropped unless it says so.
    @discardableResult
    public func retain(
        through last: EventSequence, keeping checkpoints: [UInt64] = [], progress: (@Sendable (FoldProgress) -> Void)? = nil
    ) async throws(LedgerError) -> Retention {
        guard !isReadOnly else { throw readOnlyError }
        do {
            return try await gate.run {
                try await engine.retain(
                    through: last.rawValue, definitions, keyring: keyring, keeping: checkpoints, progress: progress)
            }
        } catch {
            throw LedgerError(error, path: path)
        }
    }

    /// What is wrong with the baselines, without which rows of dropped events cannot be made again: missing files, and others than those that the signed
    /// event of the cut names.
    public static func problemsOfBaselines(_ log: EventLog) throws(LedgerError) -> [String] {
        try ViewBaselines.problems(of: log).map { $0.text + "; restore the file from a backup" }
    }

    /// What has been dropped, and the event that says so; nil where nothing has.
    public func retention() throws(LedgerError) -> (event: EventSequence, retention: Retention)? {
        do throws(EventLogError) {
            return try log.retention()
        } catch {
            throw LedgerError(error)
        }
    }

    /// The policy that a writer applies from time to time, this one included. Off unless it was set.
    public func retentionPolicy() throws(LedgerError) -> RetentionPolicy { try RetentionPolicy.load(from: path) }

    /// Keeps the policy in the ledger. A writer that runs, in whatever process, applies it within the hour.
    public func setRetentionPolicy(_ policy: RetentionPolicy) throws(LedgerError) { try policy.save(in: path) }

    /// Which recipes made the rows of a view whose events were dropped, where it was not the view's own.
    public func rowOrigins(of view: String) throws(LedgerError) -> RowOrigins {
        if let past { return try past.whole.rowOrigins(of: view) }
        return try reading(view) { (store) throws(StorageError) in try store.origins() }
    }

    /// Applies the kept policy.
    func applyPolicy() async {
        do {
            let policy = try retentionPolicy()
            let now = options.log.clock()
            guard !policy.isOff, try retentionPlan(policy.slack, now: now) != nil,
                let plan = try retentionPlan(policy.target(of: log.size()), now: now)
            else { return }
            try await retain(through: plan.last)
        } catch {
            guard !Task.isCancelled else { return }
            logger.warning("the retention policy of \(path) cannot be applied: \(error)")
        }
    }
}
