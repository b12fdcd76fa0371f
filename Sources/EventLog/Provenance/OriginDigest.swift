internal import LMDB
internal import MeshCrypto

/// Hashes the origins of a log's first events, for its checkpoints: each longest run of copies that are consecutive both here and in their original
/// log. The result does not depend on how the table's rows divide the runs.
struct OriginDigest {
    private let own: LedgerID
    private let size: UInt64
    private var context = SHA256Context()
    private var run: OriginRun?
    /// The first event of the run, in this log.
    private var place: UInt64 = 0

    /// - Parameters:
    ///   - own: the log's identifier.
    ///   - size: how many events.
    static func hash(_ own: LedgerID, _ reader: borrowing LogReader, size: UInt64, path: String) throws(EventLogError) -> [UInt8]
    {
        guard let table = reader.store.origins else { return SHA256.hash([]) }
        var digest = OriginDigest(own: own, size: size)
        var damage: UInt64?
        try storing { () throws(StorageError) in
            var cursor = try reader.transaction.cursor(table)
            while try cursor.next() {
                guard let first = SequenceKey.sequence(cursor.key), let runs = OriginRow.runs(cursor.value, first: first) else {
                    damage = SequenceKey.sequence(cursor.key) ?? 0
                    return
                }
                guard first <= size else { return }
                digest.add(runs, from: first)
            }
        }
        if let damage {
            throw EventLogError(
                .corrupt, path: path, detail: "the origins of the events from \(damage) on cannot be read")
        }
        return digest.finish()
    }

    private init(own: LedgerID, size: UInt64) {
        self.own = own
        self.size = size
    }

    private mutating func add(_ runs: [OriginRun], from first: UInt64) {
        var next = first
        for added in runs {
            guard next <= size else { return }
            let count = min(added.count, size - next + 1)
            if let last = run, last.ledger == added.ledger, last.last + 1 == added.first, place + last.count == next {
                run?.count += count
            } else {
                put()
                (run, place) = (OriginRun(ledger: added.ledger, first: added.first, count: count), next)
            }
            next += added.count
        }
    }

    /// Leaves out the log's own events, which need not be in the table.
    private mutating func put() {
        guard let run, run.ledger != own else { return }
        let numbers = [place, run.first, run.count].flatMap { SequenceKey.bytes($0) }
        context.update((run.ledger.bytes + numbers).span.rawBytes)
    }

    private mutating func finish() -> [UInt8] {
        put()
        return context.finish().bytes
    }
}
