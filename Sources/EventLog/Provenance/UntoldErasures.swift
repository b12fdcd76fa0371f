internal import LMDB

/// Erased copies whose import has not reached the event that records their erasure: the row `untold` of `meta`, signed by the log's key. It is stored
/// with the copies, so that none of them counts as a forgery if the import is interrupted.
package struct UntoldErasures: Sendable {
    package static let key = "untold"

    /// The events' indices among those appended with it.
    let places: [UInt64]
    let signer: NoteSigner

    package init(places: [UInt64], signer: NoteSigner) { (self.places, self.signer) = (places, signer) }

    /// - Parameter first: the sequence of the first event that is appended with it.
    func put(first: UInt64, _ write: inout WriteTransaction, _ store: LogStore) throws(StorageError) {
        let table = Table<String, [UInt8]>(raw: store.meta)
        let known = try write.get(table, Self.key).flatMap { Self.sequences($0) } ?? SequenceSet()
        let all = SequenceSet(known.ranges + places.map { first + $0...first + $0 })
        let signed: [UInt8]
        do throws(EventLogError) {
            signed = try ErasureSignature.sign(Self.payload(all), by: signer)
        } catch {
            throw error.cause ?? StorageError(.corrupt, call: "signing the list of erased copies", path: store.environment.path)
        }
        try write.put(table, Self.key, signed)
    }

    private static func payload(_ sequences: SequenceSet) -> [UInt8] {
        Erasure(ranges: sequences.sequences, reason: "", request: "import", root: [], log: "").payload
    }

    package static func sequences(_ row: [UInt8]) -> SequenceSet? {
        Erasure(payload: row.span.rawBytes, log: "", sequence: .zero).map { SequenceSet($0.ranges) }
    }
}

/// Removes the row once events record all erasures.
private struct EndOfUntold: PreparedWork {
    func move(into write: inout WriteTransaction, _ store: LogStore) throws(StorageError) {
        try write.delete(Table<String, [UInt8]>(raw: store.meta), UntoldErasures.key)
    }

    func ended(_ failure: StorageError?) {}
}

extension EventLog {
    private func untoldRow() throws(EventLogError) -> [UInt8]? {
        let reader = try beginRead()
        return try storing { () throws(StorageError) in
            try reader.transaction.get(Table<String, [UInt8]>(raw: reader.store.meta), UntoldErasures.key)
        }
    }

    /// Erased copies whose erasure is not recorded by an event yet.
    func untoldErasures() throws(EventLogError) -> SequenceSet {
        try untoldRow().flatMap { UntoldErasures.sequences($0) } ?? SequenceSet()
    }

    func forgetUntold() async throws(EventLogError) {
        guard let maintenance, try untoldRow() != nil else { return }
        try await maintenance.perform { () throws(EventLogError) in
            _ = try ErasureRun(self, maintenance).store([], [EndOfUntold()])
        }
    }

    /// Those listed in a row that the ledger's key has signed, for `verify`.
    func verifyUntold(signedBy verifier: NoteVerifier?, _ result: inout LogVerification) throws(EventLogError) -> SequenceSet {
        guard let row = try untoldRow() else { return SequenceSet() }
        let verifier = if let verifier { verifier } else { try self.verifier() }
        guard ErasureSignature.isSigned(row, by: verifier), let sequences = UntoldErasures.sequences(row) else {
            result.add(
                0, "the list of the erased copies of an interrupted import is not signed by the ledger's key")
            return SequenceSet()
        }
        return sequences
    }
}
