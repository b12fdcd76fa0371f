internal import LMDB
internal import Synchronization

extension EventLog {
    /// Erases the payloads of events for good, while appends and reads continue.
    ///
    /// A separate event records which and why. Each erased event keeps its header, and a hash replaces payload and salt, so that roots,
    /// proofs and older checkpoints still hold. At the end the log's file is rewritten, so that no page of it keeps the old bytes; this needs as
    /// much free space as the log takes. The next opening for writing finishes an interrupted erasure.
    ///
    /// - Parameters:
    ///   - sequences: events that exist; they may be erased already.
    ///   - reason: why; it is stored in the log.
    ///   - request: a description of the request, such as a node.
    ///   - baselines: those of dropped events without the erased rows, already on disk: in force from then on. With them, an event records the
    ///     request even if the log has none of its events.
    /// - Throws: `.notErasable` for events of the log itself, `.tooFewEvents`, `.readOnly`, `.diskFull`, `.corrupt` at a damaged event. Where
    ///   `pendingErasure()` is not nil afterwards, the erasure has begun and continues later.
    @discardableResult
    public func erase(
        _ sequences: [ClosedRange<EventSequence>], reason: String, request: String = "", baselines: [Retention.Baseline]? = nil
    ) async throws(EventLogError) -> ErasureReport {
        let set = SequenceSet(sequences)
        guard let maintenance else { throw EventLogError(.readOnly, path: path) }
        guard set.last <= head.rawValue else {
            throw EventLogError(.tooFewEvents, path: path, detail: "there is no event \(set.last); the last one is \(head)")
        }
        return try await maintenance.perform { () throws(EventLogError) in
            try ErasureRun(self, maintenance).erase([(set, reason, request)], baselines: baselines)
        }
    }

    /// Erases what was erased in another copy of this log, for example after an older backup was restored. Skips events that this log does not have.
    ///
    /// - Parameter erasures: of a log with the same identifier, as returned by its `erasures()`.
    /// - Throws: `.notErasable` when they belong to another log or to another history of it, and what `erase` throws.
    @discardableResult
    public func apply(_ erasures: [Erasure]) async throws(EventLogError) -> ErasureReport {
        try await apply(erasures, with: [], baselines: nil)
    }

    /// - Parameters:
    ///   - found: for each of the erasures, events of this log that were dropped in the other copy before it.
    ///   - baselines: as `erase` takes them.
    package func apply(
        _ erasures: [Erasure], with found: [[ClosedRange<EventSequence>]], baselines: [Retention.Baseline]?
    ) async throws(EventLogError) -> ErasureReport {
        guard let maintenance else { throw EventLogError(.readOnly, path: path) }
        let head = head
        for erasure in erasures {
            guard erasure.log == identifier else {
                throw EventLogError(
                    .notErasable, path: path, detail: "the erasure belongs to the ledger \(erasure.log); this is \(identifier)")
            }
            // If this log ends before the erasure's last event, its root cannot be checked.
            guard !erasure.ranges.isEmpty, erasure.last <= head, erasure.last >= first else { continue }
            guard try root(size: erasure.last) == erasure.root else {
                throw EventLogError(
                    .notErasable, path: path,
                    detail: "the erasure belongs to another history: events up to \(erasure.last) are not the same")
            }
        }
        // The run skips events that retention has dropped.
        let works = erasures.enumerated().map { number, erasure in
            let ranges = erasure.ranges + (number < found.count ? found[number] : [])
            return (SequenceSet(ranges).through(head.rawValue), erasure.reason, erasure.request)
        }
        return try await maintenance.perform { () throws(EventLogError) in
            try ErasureRun(self, maintenance).erase(works, baselines: baselines)
        }
    }

    /// Why an interrupted erasure could not be finished when the log was opened; nil if nothing was pending or it is under way.
    public var erasureProblem: EventLogError? { erasureFailure.withLock { $0 } }

    /// Finishes interrupted changes. The records of a pending erasure are erased when this returns; the file is rewritten in the background.
    func finishInterrupted() {
        guard let maintenance else { return }
        let run = ErasureRun(self, maintenance)
        do throws(EventLogError) {
            try storing { () throws(StorageError) in try store.removeSuccessor() }
            guard try pendingErasure() != nil else { return }
            try run.eraseRecords()
        } catch {
            return erasureFailure.withLock { $0 = error }
        }
        maintenance.start {
            do throws(EventLogError) {
                _ = try run.finish()
            } catch {
                // If the log was closed meanwhile, the next opening continues.
                if error.code != .closed { self.erasureFailure.withLock { $0 = error } }
            }
        }
    }

    func waitForErasure() async {
        guard let maintenance, erasureProblem == nil, !areWritesClosed else { return }
        let pending = try? pendingErasure()  // if it cannot be read, the next opening tries again
        guard pending != nil else { return }
        _ = try? await maintenance.perform {}  // an empty job, which waits for earlier ones
    }

    /// Finishes an interrupted erasure, and returns when no file of the log contains the old bytes.
    /// - Throws: `.readOnly`, `.diskFull`, `.closed`.
    public func finishErasing() async throws(EventLogError) {
        guard let maintenance else { throw EventLogError(.readOnly, path: path) }
        try await maintenance.perform { () throws(EventLogError) in
            guard try self.pendingErasure() != nil else { return }
            _ = try ErasureRun(self, maintenance).finish()
        }
    }
}
