internal import LMDB
internal import MeshCrypto

extension EventLog {
    /// The key that verifies signatures of this log's checkpoints. Keep it outside the ledger: anyone with write access there could replace it.
    ///
    /// - Parameter origin: the log's name in its notes, if that is not the default.
    /// - Throws: `.permission` if the key cannot be read, `.originName`.
    public func verifier(origin: String? = nil) throws(EventLogError) -> NoteVerifier { try signer(origin).verifier }

    /// A signed note of how many events there are and of their root: kept elsewhere, it can later prove that history was not rewritten.
    ///
    /// Its contents are those of C2SP tlog-checkpoint, without extensions.
    ///
    /// - Parameters:
    ///   - size: how many events it covers, all by default.
    ///   - origin: the log's name in it, such as `example.org/mesh`; by default `meshledger/` and its identifier.
    ///   - namesSources: whether extension lines also commit to the names of the sources and the origins of copied events. A cosigner
    ///     need not have checked them.
    /// - Throws: `.tooFewEvents`; `.permission` if the signing key cannot be read; `.originName` if the origin has spaces, plus signs or the like.
    public func checkpoint(
        size: EventSequence? = nil, origin: String? = nil, namesSources: Bool = false
    ) throws(EventLogError) -> SignedNote {
        var tree = try TreeReader(beginRead())
        let note = try checkpoint(&tree, size: size, origin: origin, namesSources: namesSources)
        IssuedCheckpoints(ledger: path).add(size?.rawValue ?? tree.head)
        return note
    }

    /// Proves to a verifier without a ledger that the event is in the log, against a new checkpoint.
    /// - Throws: `.tooFewEvents`; `.permission` if the signing key cannot be read.
    public func proof(of sequence: EventSequence) throws(EventLogError) -> InclusionProof {
        var tree = try TreeReader(beginRead())
        guard sequence.rawValue >= 1, sequence.rawValue <= tree.head else {
            throw EventLogError(
                .tooFewEvents, path: path, detail: "it ends with event \(tree.head) and has no event \(sequence)")
        }
        let cut = tree.tiles.reader.cut
        guard sequence.rawValue > cut else { throw dropped(sequence, cut) }
        let note = try checkpoint(&tree, size: nil)
        IssuedCheckpoints(ledger: path).add(tree.head)
        let place = sequence.rawValue - 1
        let hashes = try tree.inclusionProof(of: place, size: tree.head)
        let event = try tree.revealed(place)
        return InclusionProof(
            place: place, leafData: event.leafData, salt: event.salt, payload: event.payload, hashes: hashes, note: note)
    }

    /// Proves to a holder of both notes that the log of one checkpoint begins with that of the other.
    ///
    /// - Throws: `.forked` if a note belongs to another history than this log's; `.tooFewEvents`; `.beyondRetention` if retention has dropped the
    ///   hashes that a note needs, because this ledger has no record of issuing it.
    public func consistencyProof(from old: SignedNote, to new: SignedNote) throws(EventLogError) -> ConsistencyProof {
        var tree = try TreeReader(beginRead())
        var sizes: [UInt64] = []
        for note in [old, new] {
            guard let checkpoint = LogCheckpoint(note) else {
                throw EventLogError(.forked, path: path, detail: "a note is not a checkpoint of a ledger")
            }
            guard checkpoint.size <= tree.head else {
                throw EventLogError(
                    .tooFewEvents, path: path,
                    detail: "it ends with event \(tree.head), before the end of a note, event \(checkpoint.size)")
            }
            guard try tree.root(size: checkpoint.size).bytes == checkpoint.root else {
                throw EventLogError(
                    .forked, path: path, detail: "the note that ends with event \(checkpoint.size) is of another history")
            }
            sizes.append(checkpoint.size)
        }
        guard sizes[0] <= sizes[1] else {
            throw EventLogError(.tooFewEvents, path: path, detail: "the first note covers more events than the second")
        }
        return ConsistencyProof(old: old, new: new, hashes: try tree.consistencyProof(from: sizes[0], to: sizes[1]))
    }

    private func checkpoint(
        _ tree: inout TreeReader, size: EventSequence?, origin: String? = nil, namesSources: Bool = false
    ) throws(EventLogError) -> SignedNote {
        let size = size?.rawValue ?? tree.head
        guard size <= tree.head else {
            throw EventLogError(.tooFewEvents, path: path, detail: "it ends with event \(tree.head), before event \(size)")
        }
        let signer = try signer(origin)
        let root = try tree.root(size: size).bytes
        let origins = namesSources ? try OriginDigest.hash(ledgerID, tree.tiles.reader, size: size, path: path) : nil
        let checkpoint = LogCheckpoint(
            origin: signer.verifier.name, size: size, root: root, sources: namesSources ? try sources() : nil,
            originsHash: origins)
        return try signer.sign(checkpoint.text)
    }

    package func signer(_ origin: String? = nil) throws(EventLogError) -> NoteSigner {
        if let origin, !LogCheckpoint.isOrigin(origin) {
            throw EventLogError(.originName, path: path, detail: "\(origin) cannot be a log's name in notes")
        }
        return try SigningKey.signer(
            at: LogFolder(path: path).signingKeyPath, name: origin ?? LogCheckpoint.origin(identifier: identifier))
    }
}

extension TreeReader {
    /// An event with everything that its leaf contains.
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
