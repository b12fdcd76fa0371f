internal import LMDB
internal import Synchronization

/// What an erasure did.
public struct ErasureReport: Sendable, Equatable {
    /// The events that say so; none where everything was erased already.
    public let events: [EventSequence]
    /// How many events were erased now.
    public let erased: UInt64

    package init(events: [EventSequence], erased: UInt64) {
        self.events = events
        self.erased = erased
    }
}

extension EventLog {
    /// Erases the payloads of events for good, while appends and reading go on.
    ///
    /// An event of its own says which and why. Of each erased event the header stays, and a hash in the place of payload and salt, so that roots,
    /// proofs and older checkpoints keep holding. In the end the log is written anew, so that no page of its file keeps the old bytes; this needs as
    /// much free room as the log takes. What is interrupted, the next opening for writing finishes.
    ///
    /// - Parameters:
    ///   - sequences: events that are there. Those that are erased already do no harm.
    ///   - reason: why, as it will stand in the log.
    ///   - request: what was asked for, such as a node.
    /// - Throws: `.notErasable` for events of the log itself, `.tooFewEvents`, `.readOnly`, `.diskFull`, `.corrupt` at a damaged event. Where
    ///   `pendingErasure()` is not nil afterwards, it was begun and goes on later.
    @discardableResult
    public func erase(
        _ sequences: [ClosedRange<EventSequence>], reason: String, request: String = ""
    ) async throws(EventLogError) -> ErasureReport {
        let set = SequenceSet(sequences)
        guard let maintenance else { throw EventLogError(.readOnly, path: path) }
        guard set.last <= head.rawValue else {
            throw EventLogError(.tooFewEvents, path: path, detail: "event \(set.last) is not there, the last one is \(head)")
        }
        return try await maintenance.perform { () throws(EventLogError) in
            try ErasureRun(self, maintenance).erase([(set, reason, request)])
        }
    }

    /// Erases what was erased in another copy of this log, say after an older backup was restored. Events that this log does not have are passed over.
    ///
    /// - Parameter erasures: of a log with the same identifier, as its `erasures()` gave them.
    /// - Throws: `.notErasable` when they are of another log or of another history of it, and what `erase` does.
    @discardableResult
    public func apply(_ erasures: [Erasure]) async throws(EventLogError) -> ErasureReport {
        guard let maintenance else { throw EventLogError(.readOnly, path: path) }
        let head = head
        for erasure in erasures {
            guard erasure.log == identifier else {
                throw EventLogError(
                    .notErasable, path: path, detail: "the erasure is of the ledger \(erasure.log), this is \(identifier)")
            }
            // Where this log ends before, nobody can tell.
            guard !erasure.ranges.isEmpty, erasure.last <= head, erasure.last >= first else { continue }
            guard try root(size: erasure.last) == erasure.root else {
                throw EventLogError(
                    .notErasable, path: path,
                    detail: "the erasure is of another history: events up to \(erasure.last) are not the same")
            }
        }
        // What retention has dropped is passed over by the run.
        let works = erasures.map { (SequenceSet($0.ranges).through(head.rawValue), $0.reason, $0.request) }
        return try await maintenance.perform { () throws(EventLogError) in try ErasureRun(self, maintenance).erase(works) }
    }

    /// Why an interrupted erasure could not be finished when the log was opened, nil where nothing was to be done or it is under way.
    public var erasureProblem: EventLogError? { erasureFailure.withLock { $0 } }

    /// Removes what interrupted changes left. The records of a pending erasure are erased when this returns; the file is written anew beside.
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
                // Where the log was closed meanwhile, the next opening goes on.
                if error.code != .closed { self.erasureFailure.withLock { $0 = error } }
            }
        }
    }

    func waitForErasure() async {
        guard let maintenance, erasureProblem == nil, !areWritesClosed else { return }
        let pending = try? pendingErasure()  // what cannot be read is tried again by the next opening
        guard pending != nil else { return }
        _ = try? await maintenance.perform {}  // an empty job: it waits for those before it
    }

    /// Finishes what an interrupted erasure left, and returns when no file of the log has the old bytes any more.
    public func finishErasing() async throws(EventLogError) {
        guard let maintenance else { throw EventLogError(.readOnly, path: path) }
        try await maintenance.perform { () throws(EventLogError) in
            guard try self.pendingErasure() != nil else { return }
            _ = try ErasureRun(self, maintenance).finish()
        }
    }
}
