public import EventLog
import LMDB
import Logging
import MeshViews
public import Projections

extension Ledger {
    /// How much is kept: dropping the oldest events, by hand or by a policy that the process that writes applies, and the size limit.
    ///
    /// ```swift
    /// let policy = RetentionPolicy(longestSeconds: 90 * 86_400)
    /// if let plan = try ledger.retention.plan(policy) { print("drops \(plan.count) events") }
    /// try ledger.retention.setPolicy(policy)
    /// ```
    public struct RetentionControl: Sendable {
        let ledger: Ledger
    }

    public var retention: RetentionControl { RetentionControl(ledger: self) }
}

extension Ledger.RetentionControl {
    /// What the policy would drop now; nil if that is nothing. Changes nothing.
    ///
    /// Ages count from the log's own time, which a jump of the clock does not move: see `EventLog/FORMAT.md`, Ages.
    ///
    /// - Parameter trustsClock: whether they count from `now`, regardless of what the log confirms.
    /// - Throws: `.closed`, and errors of the log's file.
    public func plan(
        _ policy: RetentionPolicy, now: Timestamp = .now, trustsClock: Bool = false
    ) throws(LedgerError) -> RetentionPlan? {
        guard trustsClock else { return try outlook(policy, now: now).plan }
        return try ledger.wrappingErrors {
            try ledger.log.retentionPlan(olderThan: policy.oldest(at: now), largerThan: policy.largestBytes)
        }
    }

    /// What the policy would drop now, and what the clock alone would.
    /// - Throws: `.closed`, and errors of the log's file.
    public func outlook(_ policy: RetentionPolicy, now: Timestamp = .now) throws(LedgerError) -> RetentionOutlook {
        try ledger.wrappingErrors {
            try ledger.log.retentionOutlook(olderThan: policy.longestSeconds, largerThan: policy.largestBytes, now: now)
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
        guard !ledger.isReadOnly else { throw ledger.readOnlyError }
        return try await ledger.wrappingErrors {
            try await ledger.gate.run {
                try await ledger.engine.retain(
                    through: last.rawValue, ledger.definitions, keyring: ledger.keys.keyring, keeping: checkpoints,
                    progress: progress)
            }
        }
    }

    /// The last retention and the event that records it; nil if nothing was dropped.
    /// - Throws: `.closed`, and errors of the log's file.
    public func last() throws(LedgerError) -> (event: EventSequence, retention: Retention)? {
        try ledger.wrappingErrors { try ledger.log.retention() }
    }

    /// The policy that a writer, including this one, applies periodically. Off unless it was set.
    /// - Throws: `.corrupt` if the stored policy is damaged.
    public func policy() throws(LedgerError) -> RetentionPolicy { try RetentionPolicy.load(from: ledger.path) }

    /// Stores the policy in the ledger. A running writer, in any process, applies it within half a minute.
    /// - Throws: `.readOnly`, `.query` for an age or a size below 1, and errors of the disk.
    public func setPolicy(_ policy: RetentionPolicy) throws(LedgerError) {
        guard !ledger.isReadOnly else { throw ledger.readOnlyError }
        try policy.save(in: ledger.path)
    }

    /// Applies the stored policy. An age whose cut would be implausibly large waits.
    func applyPolicy() async {
        do {
            let policy = try policy()
            guard !policy.isOff else { return }
            try await ledger.log.noteClock()
            let now = ledger.options.log.clock()
            let outlook = try outlook(policy.slack, now: now)
            if outlook.isHeldBack { ledger.logger.warning("\(outlook.heldBackText(ledger.path, now: now))") }
            guard outlook.plan != nil, let plan = try plan(policy.target(of: ledger.log.size()), now: now)
            else { return }
            let before = ledger.log.first.rawValue
            try await retain(through: plan.last)
            ledger.logger.notice("retention dropped the events \(before) to \(ledger.log.first.rawValue - 1) of \(ledger.path)")
        } catch {
            guard !Task.isCancelled else { return }
            ledger.logger.warning(
                "the retention policy of \(ledger.path) cannot be applied: \(LedgerError(error, path: ledger.path))")
        }
    }
}

extension Ledger.Maintenance {
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

    /// The recipes that built the rows of a view from dropped events, if they are not the view's own.
    /// - Throws: `.notBuilt` or `.beingBuilt` if the view cannot be read yet, `.closed`, and errors of the file.
    public func rowOrigins(of view: String) throws(LedgerError) -> RowOrigins {
        if let past = ledger.past { return try past.whole.maintenance.rowOrigins(of: view) }
        return try ledger.reading(view) { (store) throws(StorageError) in try store.origins() }
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
