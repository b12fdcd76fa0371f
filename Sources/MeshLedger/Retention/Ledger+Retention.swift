public import EventLog
import LMDB
import Logging
import MeshViews
public import Projections

extension Ledger {
    /// What the policy would drop now; nil if that is nothing. Changes nothing.
    ///
    /// Ages count from the log's own time, which a jump of the clock does not move: see `EventLog/FORMAT.md`, Ages.
    ///
    /// - Parameter trustsClock: whether they count from `now`, regardless of what the log confirms.
    /// - Throws: `.closed`, and errors of the log's file.
    public func retentionPlan(
        _ policy: RetentionPolicy, now: Timestamp = .now, trustsClock: Bool = false
    ) throws(LedgerError) -> RetentionPlan? {
        guard trustsClock else { return try retentionOutlook(policy, now: now).plan }
        return try wrappingErrors { try log.retentionPlan(olderThan: policy.oldest(at: now), largerThan: policy.largestBytes) }
    }

    /// What the policy would drop now, and what the clock alone would.
    /// - Throws: `.closed`, and errors of the log's file.
    public func retentionOutlook(_ policy: RetentionPolicy, now: Timestamp = .now) throws(LedgerError) -> RetentionOutlook {
        try wrappingErrors {
            try log.retentionOutlook(olderThan: policy.longestSeconds, largerThan: policy.largestBytes, now: now)
        }
    }

    /// Drops all events up to and including `last`, a multiple of 256, after the views have built baselines of them: what each view had built from these
    /// events stays, and a view that is rebuilt begins with it.
    ///
    /// - Parameter checkpoints: sizes of checkpoints that must stay comparable afterwards, besides those that this ledger issued.
    /// - Throws: errors of `EventLog.cut`; nothing was dropped unless they state it.
    @discardableResult
    public func retain(
        through last: EventSequence, keeping checkpoints: [UInt64] = [], progress: (@Sendable (FoldProgress) -> Void)? = nil
    ) async throws(LedgerError) -> Retention {
        guard !isReadOnly else { throw readOnlyError }
        return try await wrappingErrors {
            try await gate.run {
                try await engine.retain(
                    through: last.rawValue, definitions, keyring: keyring, keeping: checkpoints, progress: progress)
            }
        }
    }

    /// The problems of the baselines, without which rows of dropped events cannot be restored: missing files, and files that differ from those that the signed
    /// event of the cut names.
    /// - Parameter views: only of these; nil for all.
    /// - Throws: errors of the files.
    public static func problemsOfBaselines(
        _ log: EventLog, of views: Set<String>? = nil
    ) throws(LedgerError) -> [String] {
        try ViewBaselines.problems(of: log).filter { views?.contains($0.view) ?? true }.map {
            $0.text + "; restore the file from a backup"
        }
    }

    /// The last retention and the event that records it; nil if nothing was dropped.
    /// - Throws: `.closed`, and errors of the log's file.
    public func retention() throws(LedgerError) -> (event: EventSequence, retention: Retention)? {
        try wrappingErrors { try log.retention() }
    }

    /// The policy that a writer, including this one, applies periodically. Off unless it was set.
    /// - Throws: `.corrupt` if the stored policy is damaged.
    public func retentionPolicy() throws(LedgerError) -> RetentionPolicy { try RetentionPolicy.load(from: path) }

    /// Stores the policy in the ledger. A running writer, in any process, applies it within half a minute.
    /// - Throws: `.readOnly`, `.query` for an age or a size below 1, and errors of the disk.
    public func setRetentionPolicy(_ policy: RetentionPolicy) throws(LedgerError) {
        guard !isReadOnly else { throw readOnlyError }
        try policy.save(in: path)
    }

    /// The recipes that built the rows of a view from dropped events, if they are not the view's own.
    /// - Throws: `.notBuilt` or `.beingBuilt` if the view cannot be read yet, `.closed`, and errors of the file.
    public func rowOrigins(of view: String) throws(LedgerError) -> RowOrigins {
        if let past { return try past.whole.rowOrigins(of: view) }
        return try reading(view) { (store) throws(StorageError) in try store.origins() }
    }

    /// Applies the stored policy. An age whose cut would be implausibly large waits.
    func applyPolicy() async {
        do {
            let policy = try retentionPolicy()
            guard !policy.isOff else { return }
            try await log.noteClock()
            let now = options.log.clock()
            let outlook = try retentionOutlook(policy.slack, now: now)
            if outlook.isHeldBack { logger.warning("\(outlook.heldBackText(path, now: now))") }
            guard outlook.plan != nil, let plan = try retentionPlan(policy.target(of: log.size()), now: now)
            else { return }
            let before = log.first.rawValue
            try await retain(through: plan.last)
            logger.notice("retention dropped the events \(before) to \(log.first.rawValue - 1) of \(path)")
        } catch {
            guard !Task.isCancelled else { return }
            logger.warning("the retention policy of \(path) cannot be applied: \(LedgerError(error, path: path))")
        }
    }
}

extension RetentionOutlook {
    /// The message that a cut waits, and how to make it anyway.
    public func heldBackText(_ path: String, now: Timestamp) -> String {
        let times = [now, logTime ?? now].map { ISO8601.text(seconds: $0.seconds) }
        // Then only arrivals by a clock that was not set, or was far ahead, make the difference.
        let reason =
            times[0] == times[1]
            ? "some events of \(path) arrived while the clock was wrong, and have no age"
            : "the clock shows \(times[0]), but the events of \(path) confirm no more than \(times[1]): ages count from then"
        let held = "the events up to \(byClock?.last ?? .zero) wait (\(byClock?.count ?? 0))"
        return "\(reason), and \(held); `meshledger storage retain --trust-clock` drops them anyway"
    }
}
