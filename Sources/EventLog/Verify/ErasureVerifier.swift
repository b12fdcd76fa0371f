/// Compares the erased records with the events that record erasures.
struct ErasureVerifier {
    private var erased = SequenceSet()
    private var withoutPayload = SequenceSet()
    private(set) var recorded: [Erasure] = []
    /// The first erasure that was under way when the check began.
    private let pending: EventSequence?

    init(pending: EventSequence?) { self.pending = pending }

    mutating func add(_ finding: TileFinding) {
        for range in finding.erased.ranges { erased.append(range) }
        for range in finding.withoutPayload.ranges { withoutPayload.append(range) }
        recorded += finding.erasures
    }

    /// - Parameters:
    ///   - cut: the last dropped event: only hashes are left of dropped events, erased or not.
    ///   - unrecorded: erased copies of an import that has not reached the event that records their erasure.
    ///   - listed: the erasures that the log lists now, including those added after the check began.
    ///   - isPending: whether the erasure that was under way still is.
    func finish(
        _ listed: [Erasure], unrecorded: SequenceSet, cut: UInt64, head: UInt64, isPending: Bool, _ result: inout LogVerification
    ) {
        let known = listed.filter { $0.sequence.rawValue <= head }.map(\.sequence)
        if known != recorded.map(\.sequence) {
            result.add(0, "the list of events that record erasures does not match the events")
        }
        let named = SequenceSet((listed + recorded).flatMap { SequenceSet($0.ranges).ranges } + unrecorded.ranges)
        for range in erased.subtracting(named).ranges {
            for sequence in range { result.add(sequence, "it is erased, but no event records that: its payload was removed") }
        }
        for erasure in recorded where pending.map({ erasure.sequence < $0 }) ?? true {
            for range in SequenceSet(erasure.ranges).from(cut + 1).through(head).subtracting(withoutPayload).ranges {
                for sequence in range {
                    result.add(sequence, "event \(erasure.sequence) records that it was erased, but it has its payload")
                }
            }
        }
        if let pending, isPending {
            result.add(
                pending.rawValue,
                "the erasure that it records is not finished: old bytes may still be there; open the ledger for writing to finish it"
            )
        }
    }
}
