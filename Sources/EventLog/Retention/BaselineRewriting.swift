internal import LMDB

/// Baselines of dropped events that were rewritten for erasures: an event that names the new ones follows directly on those that record the erasures.
package struct BaselineRewriting: Sendable {
    package let erasures: [Erasure]
    /// The event that names the new ones.
    package let event: EventSequence
    package let baselines: [Retention.Baseline]
}

extension EventLog {
    /// The rewritings that this log records, but does not follow yet: they came with a recording of the ledger that it is an exact copy of.
    package func unfollowedRewritings() throws(EventLogError) -> [BaselineRewriting] {
        guard let (event, retention) = try retention() else { return [] }
        var groups: [[Erasure]] = []
        for erasure in try erasures() where erasure.sequence > event {
            if groups.last?.last?.sequence.advanced(by: 1) == erasure.sequence {
                groups[groups.count - 1].append(erasure)
            } else {
                groups.append([erasure])
            }
        }
        var found: [BaselineRewriting] = []
        for group in groups {
            guard let next = group.last?.sequence.advanced(by: 1), let words = try rewriting(at: next),
                words.first == retention.first
            else { continue }
            found.append(BaselineRewriting(erasures: group, event: next, baselines: words.baselines))
        }
        return found
    }

    /// What the event says if it names other baselines, and drops no events.
    private func rewriting(at sequence: EventSequence) throws(EventLogError) -> Retention? {
        guard let event = try event(sequence), event.header.source == .log, event.header.encoding == .retention,
            let words = Retention(payload: event.payload.span.rawBytes), words.count == 0
        else { return nil }
        return words
    }

    /// Whether baselines were rewritten for the erasure.
    package func rewroteBaselines(_ erasure: Erasure) throws(EventLogError) -> Bool {
        var next = erasure.sequence.advanced(by: 1)
        while let event = try event(next), event.header.source == .log, event.header.encoding == .erasure {
            next = next.advanced(by: 1)
        }
        return try rewriting(at: next) != nil
    }

    /// Makes the baselines that the rewriting's event names those in force.
    package func follow(_ rewriting: BaselineRewriting) async throws(EventLogError) {
        guard let maintenance else { throw EventLogError(.readOnly, path: path) }
        try await maintenance.perform { () throws(EventLogError) in
            _ = try ErasureRun(self, maintenance).store([], [NamedBaselines(event: rewriting.event.rawValue)])
        }
    }
}

/// Makes an event the one that names the baselines in force.
struct NamedBaselines: PreparedWork {
    /// Nil: the event that follows on the erasures in the same transaction.
    let event: UInt64?

    func move(into write: inout WriteTransaction, _ store: LogStore) throws(StorageError) {
        let last = try store.erasures(write).last ?? 0
        try write.put(Table<String, UInt64>(raw: store.meta), CutRow.event, event ?? last + 1)
    }

    func ended(_ failure: StorageError?) {}
}
