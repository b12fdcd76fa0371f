internal import LMDB

extension EventLog {
    /// Erases payloads that are still there although this log's events record their erasure, as after copying records from a log with an
    /// unfinished erasure.
    package func completeErasures() async throws(EventLogError) {
        guard let maintenance, try lastErasure() != nil else { return }
        try await maintenance.perform { () throws(EventLogError) in try ErasureRun(self, maintenance).complete() }
    }

    /// Erases events that no event of this log names, since the ledger that it is an exact copy of had dropped them before it erased them: a signed row lists
    /// them, so that the log stays an exact copy. The next opening for writing finishes an interruption.
    /// - Returns: how many were erased.
    package func eraseImplied(_ ranges: [ClosedRange<EventSequence>]) async throws(EventLogError) -> UInt64 {
        guard let maintenance else { throw EventLogError(.readOnly, path: path) }
        let set = SequenceSet(ranges)
        return try await maintenance.perform { () throws(EventLogError) in try ErasureRun(self, maintenance).eraseImplied(set) }
    }

    /// The `sequences` that have payloads and are not the log's own.
    fileprivate func withPayload(_ sequences: SequenceSet) throws(EventLogError) -> SequenceSet {
        var found = SequenceSet()
        var next = self.first.rawValue
        while let wanted = sequences.first(from: next) {
            let reader = try beginRead()
            var cursor = try reader.cursor()
            var isThere = try cursor.seek(EventSequence(wanted))
            guard isThere else { return found }
            next = wanted + 4096
            while isThere, cursor.sequence.rawValue < next {
                let sequence = cursor.sequence.rawValue
                if sequences.contains(sequence), let header = cursor.header, !header.isErased, header.source != .log {
                    found.append(sequence)
                }
                isThere = try cursor.next()
            }
        }
        return found
    }
}

extension ErasureRun {
    fileprivate func eraseImplied(_ sequences: SequenceSet) throws(EventLogError) -> UInt64 {
        let fresh = try fresh(sequences)
        guard let last = try log.lastErasure(), !fresh.isEmpty else { return 0 }
        log.sealer?.pause()
        defer { log.sealer?.goOn() }
        let eraser = try storing { () throws(StorageError) in try RecordEraser(fresh, log.options.summariser) }
        _ = try store([], [ImpliedErasures(sequences: fresh, signer: try log.signer()), PendingMark(first: last), eraser])
        _ = try finish()
        return fresh.count
    }

    fileprivate func complete() throws(EventLogError) {
        let erasures = try log.erasures()
        let left = try log.withPayload(SequenceSet(erasures.flatMap { SequenceSet($0.ranges).ranges }))
        guard let first = erasures.first?.sequence, !left.isEmpty else { return }
        log.sealer?.pause()
        defer { log.sealer?.goOn() }
        let eraser = try storing { () throws(StorageError) in try RecordEraser(left, log.options.summariser) }
        _ = try store([], [PendingMark(first: first), eraser])
        _ = try finish()
    }
}

/// Marks erasures from this event on as pending.
private struct PendingMark: PreparedWork {
    let first: EventSequence

    func move(into write: inout WriteTransaction, _ store: LogStore) throws(StorageError) {
        if let known = try store.firstPendingErasure(write), known <= first.rawValue { return }
        try write.put(Table<String, UInt64>(raw: store.meta), LogStore.erasingKey, first.rawValue)
    }

    func ended(_ failure: StorageError?) {}
}
