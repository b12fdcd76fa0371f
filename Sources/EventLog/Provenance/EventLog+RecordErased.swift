extension EventLog {
    /// Appends an event that records which copies of other logs' events are erased: without it, an erased record would count as a forgery.
    package func record(erased: SequenceSet, request: String, reason: String) async throws(EventLogError) {
        let erased = SequenceSet(erased.ranges + (try unrecordedErasures().ranges))
        guard !erased.isEmpty else { return }
        let named = SequenceSet(try erasures().flatMap { SequenceSet($0.ranges).ranges })
        let ranges = erased.subtracting(named).sequences
        for start in stride(from: 0, to: ranges.count, by: Erasure.largestCount) {
            let some = Array(ranges[start..<min(start + Erasure.largestCount, ranges.count)])
            guard let last = some.last?.upperBound else { return }
            let erasure = Erasure(ranges: some, reason: reason, request: request, root: try root(size: last), log: identifier)
            var batch = EventBatch()
            batch.append(
                own: NewEvent(try ErasureSignature.sign(erasure.payload, by: signer()), encoding: .erasure, source: .log))
            try await append(batch)
        }
        try await removeUnrecorded()
    }
}
