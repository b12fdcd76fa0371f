internal import LMDB

extension EventLog {
    /// Erases payloads that are still there although this log's events record their erasure, as after copying records from a log with an
    /// unfinished erasure.
    package func completeErasures() async throws(EventLogError) {
        guard let maintenance, try lastErasure() != nil else { return }
        try await maintenance.perform { () throws(EventLogError) in try ErasureRun(self, maintenance).complete() }
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
        try write.put(Table<String, UInt64>(raw: store.meta), LogStore.erasingKey, first.rawValue)
    }

    func ended(_ failure: StorageError?) {}
}
