internal import LMDB
internal import MeshCrypto

extension EventLog {
    /// What signatures of this log's checkpoints are verified with. Keep it away from the ledger: who can write there could replace it.
    public func verifier() throws(EventLogError) -> NoteVerifier { try signer().verifier }

    /// A signed note of how many events there are and which: whoever keeps it elsewhere can prove later that history was not rewritten.
    ///
    /// - Parameter size: how many events it covers, by default all.
    /// - Throws: `.tooFewEvents`; `.permission` where the signing key cannot be read.
    public func checkpoint(size: EventSequence? = nil) throws(EventLogError) -> SignedNote {
        var tree = try TreeReader(beginRead())
        let note = try checkpoint(&tree, size: size)
        IssuedCheckpoints(ledger: path).add(size?.rawValue ?? tree.head)
        return note
    }

    /// Proves that the event is in the log, to someone who has no ledger, against a checkpoint of now.
    public func proof(of sequence: EventSequence) throws(EventLogError) -> InclusionProof {
        var tree = try TreeReader(beginRead())
        guard sequence.rawValue >= 1, sequence.rawValue <= tree.head else {
            throw EventLogError(
                .tooFewEvents, path: path, detail: "it has \(tree.head) events, event \(sequence) is not among them")
        }
        let cut = tree.tiles.reader.cut
        guard sequence.rawValue > cut else { throw dropped(sequence, cut) }
        let note = try checkpoint(&tree, size: nil)
        let place = sequence.rawValue - 1
        let hashes = try tree.inclusionProof(of: place, size: tree.head)
        let event = try tree.revealed(place)
        return InclusionProof(
            place: place, leafData: event.leafData, salt: event.salt, payload: event.payload, hashes: hashes, note: note)
    }

    private func checkpoint(_ tree: inout TreeReader, size: EventSequence?) throws(EventLogError) -> SignedNote {
        let size = size?.rawValue ?? tree.head
        guard size <= tree.head else {
            throw EventLogError(.tooFewEvents, path: path, detail: "it has \(tree.head) events, not \(size)")
        }
        let origin = LogCheckpoint.origin(identifier: identifier)
        let root = try tree.root(size: size).bytes
        let origins = try OriginDigest.hash(self, tree.tiles.reader, size: size)
        let checkpoint = LogCheckpoint(origin: origin, size: size, root: root, sources: try sources(), originsHash: origins)
        return try signer().sign(checkpoint.text)
    }

    func signer() throws(EventLogError) -> NoteSigner {
        try SigningKey.signer(at: LogFolder(path: path).signingKeyPath, name: LogCheckpoint.origin(identifier: identifier))
    }
}

extension TreeReader {
    /// An event with all that its leaf is made of.
    func revealed(_ place: UInt64) throws(EventLogError) -> (leafData: [UInt8], salt: [UInt8]?, payload: [UInt8]) {
        try tiles.revealed(place)
    }
}

extension TileReader {
    func revealed(_ place: UInt64) throws(EventLogError) -> (leafData: [UInt8], salt: [UInt8]?, payload: [UInt8]) {
        let store = reader.store
        let salts = try storing { () throws(StorageError) in
            try store.salts(ofTile: place / LogStore.tileSize, reader.transaction)
        }
        var cursor = try reader.cursor()
        guard try cursor.seek(EventSequence(place + 1)), cursor.isIntact else {
            throw EventLogError(.corrupt, path: store.environment.path, detail: "event \(place + 1) is missing or damaged")
        }
        let salt = Array(salts.salt(Int(place % LogStore.tileSize)))
        var hasher = MerkleHasher()
        let leafData = hasher.leafData(ofRecord: cursor.record, sequence: place + 1, salt: salt.span.rawBytes)
        if Record.isErased(cursor.record) { return (leafData, nil, []) }
        return (leafData, salt, unsafe cursor.payload.withUnsafeBytes { unsafe [UInt8]($0) })
    }
}
