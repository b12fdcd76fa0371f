internal import LMDB

/// Erased copies whose import has not reached the event that records their erasure: the row `untold` of `meta`, signed by the log's key. It is stored
/// with the copies, so that none of them counts as a forgery if the import is interrupted.
package struct UnrecordedErasures: Sendable {
    package static let key = "untold"

    /// The events' indices among those appended with it.
    let places: [UInt64]
    let signer: NoteSigner

    package init(places: [UInt64], signer: NoteSigner) { (self.places, self.signer) = (places, signer) }

    /// - Parameter first: the sequence of the first event that is appended with it.
    func put(first: UInt64, _ write: inout WriteTransaction, _ store: LogStore) throws(StorageError) {
        try Self.add(SequenceSet(places.map { first + $0...first + $0 }), to: Self.key, signer, &write, store)
    }

    /// Adds to the events that a row of `meta` lists.
    static func add(
        _ sequences: SequenceSet, to key: String, _ signer: NoteSigner, _ write: inout WriteTransaction, _ store: LogStore
    ) throws(StorageError) {
        let table = Table<String, [UInt8]>(raw: store.meta)
        let known = try write.get(table, key).flatMap { Self.sequences($0) } ?? SequenceSet()
        let all = SequenceSet(known.ranges + sequences.ranges)
        let signed: [UInt8]
        do throws(EventLogError) {
            signed = try ErasureSignature.sign(payload(all), by: signer)
        } catch {
            throw error.cause ?? StorageError(.corrupt, call: "signing the list of erased copies", path: store.environment.path)
        }
        try write.put(table, key, signed)
    }

    private static func payload(_ sequences: SequenceSet) -> [UInt8] {
        Erasure(ranges: sequences.sequences, reason: "", request: "import", root: [], log: "").payload
    }

    package static func sequences(_ row: [UInt8]) -> SequenceSet? {
        Erasure(payload: row.span.rawBytes, log: "", sequence: .zero).map { SequenceSet($0.ranges) }
    }
}

/// What an exact copy has erased although no event names it, since the ledger that it is a copy of had dropped it before: the row `implied` of `meta`, signed
/// by the log's key.
package struct ImpliedErasures: PreparedWork {
    package static let key = "implied"

    let sequences: SequenceSet
    let signer: NoteSigner

    func move(into write: inout WriteTransaction, _ store: LogStore) throws(StorageError) {
        try UnrecordedErasures.add(sequences, to: Self.key, signer, &write, store)
    }

    func ended(_ failure: StorageError?) {}
}

/// Removes the row once events record all erasures.
private struct EndOfUnrecorded: PreparedWork {
    func move(into write: inout WriteTransaction, _ store: LogStore) throws(StorageError) {
        try write.delete(Table<String, [UInt8]>(raw: store.meta), UnrecordedErasures.key)
    }

    func ended(_ failure: StorageError?) {}
}

extension EventLog {
    private func erasedRow(_ key: String) throws(EventLogError) -> [UInt8]? {
        let reader = try beginRead()
        return try storing { () throws(StorageError) in
            try reader.transaction.get(Table<String, [UInt8]>(raw: reader.store.meta), key)
        }
    }

    /// Erased copies whose erasure is not recorded by an event yet.
    func unrecordedErasures() throws(EventLogError) -> SequenceSet {
        try erasedRow(UnrecordedErasures.key).flatMap { UnrecordedErasures.sequences($0) } ?? SequenceSet()
    }

    /// What no event names, see `ImpliedErasures`.
    package func impliedErasures() throws(EventLogError) -> SequenceSet {
        try erasedRow(ImpliedErasures.key).flatMap { UnrecordedErasures.sequences($0) } ?? SequenceSet()
    }

    func removeUnrecorded() async throws(EventLogError) {
        guard let maintenance, try erasedRow(UnrecordedErasures.key) != nil else { return }
        try await maintenance.perform { () throws(EventLogError) in
            _ = try ErasureRun(self, maintenance).store([], [EndOfUnrecorded()])
        }
    }

    /// Those listed in rows that the ledger's key has signed, for `verify`.
    func verifyUnrecorded(signedBy verifier: NoteVerifier?, _ result: inout LogVerification) throws(EventLogError) -> SequenceSet
    {
        var all = SequenceSet()
        for key in [UnrecordedErasures.key, ImpliedErasures.key] {
            guard let row = try erasedRow(key) else { continue }
            let verifier = if let verifier { verifier } else { try self.verifier() }
            if ErasureSignature.isSigned(row, by: verifier), let sequences = UnrecordedErasures.sequences(row) {
                all = SequenceSet(all.ranges + sequences.ranges)
            } else {
                let what = key == UnrecordedErasures.key ? "an interrupted import" : "what no event names"
                result.add(0, "the list of the erased copies of \(what) is not signed by the ledger's key")
            }
        }
        return all
    }
}
