internal import LMDB
internal import MeshCrypto

/// The result of checking one tile.
struct TileFinding: Sendable {
    let tile: UInt64
    var eventsChecked = 0
    var payloadBytes = 0
    var problems: [LogVerification.Problem] = []
    /// Computed from the events; nil if the tile is not full or something is wrong with an event.
    var hash: SHA256Digest?
    /// Events without payloads, including damaged ones.
    var withoutPayload = SequenceSet()
    /// The erased ones of these.
    var erased = SequenceSet()
    /// The erasures that events record.
    var erasures: [Erasure] = []
    /// The retentions that events record.
    var retentions: [Retention] = []

    init(tile: UInt64) { self.tile = tile }

    mutating func add(_ sequence: UInt64, _ text: String) {
        problems.append(LogVerification.Problem(sequence: EventSequence(sequence), text: text))
    }
}

/// Checks tiles in one read transaction, and the facts of sealed blocks that begin in them.
struct TileVerifier: ~Copyable {
    private let reader: LogReader
    private let head: UInt64
    private let summariser: EventSummariser?

    init(_ reader: consuming LogReader, head: UInt64, _ summariser: EventSummariser?) {
        self.reader = reader
        self.head = head
        self.summariser = summariser
    }

    func check(_ tiles: Range<UInt64>) throws(EventLogError) -> [TileFinding] {
        var findings: [TileFinding] = []
        var cursor = try reader.cursor()
        cursor.readsChecksums = false
        var block = BlockCheck(summariser)
        var hasher = MerkleHasher()
        for tile in tiles { findings.append(try check(tile, &cursor, &block, &hasher)) }
        while block.isOpen(at: cursor) {
            block.include(cursor)
            _ = try cursor.next()
        }
        for (sequence, text) in block.problems { findings[findings.count - 1].add(sequence, text) }
        return findings
    }

    private func check(
        _ tile: UInt64, _ cursor: inout EventCursor, _ block: inout BlockCheck, _ hasher: inout MerkleHasher
    ) throws(EventLogError) -> TileFinding {
        var finding = TileFinding(tile: tile)
        let sequences = tile * LogStore.tileSize + 1...min((tile + 1) * LogStore.tileSize, head)
        let store = reader.store
        let salts = try storing { () throws(StorageError) -> TileSalts? in
            let key = SequenceKey(tile)
            guard let stored = try reader.transaction.get(store.salts, key.span) else { return nil }
            return TileSalts(stored: stored)
        }
        if salts == nil { finding.add(sequences.lowerBound, "the salts of the 256 events from it on are missing") }
        var arrivals = ArrivalRange()
        let leaves = try check(sequences, salts, &cursor, &block, &hasher, &arrivals, &finding)
        guard sequences.count == Int(LogStore.tileSize) else { return finding }
        let stored = try storing { () throws(StorageError) -> ArrivalRange? in
            let key = SequenceKey(tile)
            guard let stored = try reader.transaction.get(store.arrivals, key.span) else { return nil }
            return ArrivalRange(stored)
        }
        if finding.problems.isEmpty && stored != arrivals {
            finding.add(sequences.upperBound, "the index of arrival times does not match the 256 events up to it")
        }
        if leaves.count == sequences.count { finding.hash = hasher.root(leaves) }
        return finding
    }

    /// - Parameter cursor: after the last event that was checked.
    /// - Returns: the hashes of the events that are as they were stored.
    private func check(
        _ sequences: ClosedRange<UInt64>, _ salts: TileSalts?, _ cursor: inout EventCursor, _ block: inout BlockCheck,
        _ hasher: inout MerkleHasher, _ arrivals: inout ArrivalRange, _ finding: inout TileFinding
    ) throws(EventLogError) -> [SHA256Digest] {
        var leaves: [SHA256Digest] = []
        leaves.reserveCapacity(sequences.count)
        var isThere = cursor.sequence.rawValue == sequences.lowerBound
        if !isThere { isThere = try cursor.seek(EventSequence(sequences.lowerBound)) }
        for (place, sequence) in sequences.enumerated() {
            guard isThere && cursor.sequence.rawValue == sequence else {
                finding.withoutPayload.append(sequence)
                finding.add(sequence, "it is missing")
                if !isThere { isThere = try cursor.seek(EventSequence(sequence + 1)) }
                continue
            }
            finding.eventsChecked += 1
            finding.payloadBytes += cursor.payload.byteCount
            if cursor.isIntact {
                let record = cursor.record
                checkOwn(record, sequence, salts, place, &finding)
                arrivals.include(Record.arrival(record))
                block.include(cursor)
                if let salts {
                    let salt = salts.bytes.span.rawBytes.extracting(TileSalts.saltSize * place..<TileSalts.saltSize * (place + 1))
                    leaves.append(hasher.leafHash(ofRecord: record, sequence: sequence, salt: salt))
                }
            } else {
                finding.withoutPayload.append(sequence)
                finding.add(sequence, "its checksum does not match its bytes")
            }
            isThere = try cursor.next()
        }
        return leaves
    }

    /// Checks what the log records about its own events: that they are erased, and which ones were erased or dropped.
    private func checkOwn(
        _ record: RawSpan, _ sequence: UInt64, _ salts: TileSalts?, _ place: Int, _ finding: inout TileFinding
    ) {
        let header = RecordHeader(record)
        // Such as a gap event that replaces a damaged one.
        if header.source == 0 { finding.withoutPayload.append(sequence) }
        if Record.isErased(record) {
            finding.erased.append(sequence)
            finding.withoutPayload.append(sequence)
            if header.source == 0 { finding.add(sequence, "it was written by the log itself, but is erased") }
            if record.byteCount != RecordHeader.size + SHA256Digest.size {
                finding.add(sequence, "it is erased but has no inner hash")
            }
            if let salts, salts.salt(place).contains(where: { $0 != 0 }) {
                finding.add(sequence, "it is erased but its salt is still there")
            }
        } else if header.encoding == PayloadEncoding.erasure.rawValue && header.source == 0 {
            let payload = record.extracting(droppingFirst: RecordHeader.size)
            if let erasure = Erasure(payload: payload, log: "", sequence: EventSequence(sequence)) {
                finding.erasures.append(erasure)
            } else {
                finding.add(sequence, "it does not state what was erased")
            }
        } else if header.encoding == PayloadEncoding.retention.rawValue && header.source == 0 {
            if let retention = Retention(payload: record.extracting(droppingFirst: RecordHeader.size)) {
                finding.retentions.append(retention)
            }
        }
    }
}

/// Compares the stored tree with a recomputed one, tile by tile.
struct TreeVerifier {
    private var frontier: TreeFrontier? = TreeFrontier()

    /// Adds the stored hash of a tile whose events are dropped.
    /// - Returns: whether the stored hashes above it that it completes match.
    mutating func add(dropped hash: SHA256Digest, _ store: LogStore, _ read: borrowing ReadTransaction) throws(StorageError)
        -> Bool
    {
        var rows: [TreeWork.Row] = []
        frontier?.add(hash, to: &rows)
        for row in rows where try store.treeHash(row.key, read) != row.hash { return false }
        return true
    }

    /// Nothing above the previous tile can be computed.
    mutating func lose() { frontier = nil }

    mutating func add(_ finding: TileFinding, of store: LogStore, to result: inout LogVerification) throws(EventLogError) {
        // After a damaged tile nothing above it can be computed; the tile itself is reported.
        guard let hash = finding.hash else { return frontier = nil }
        var rows: [TreeWork.Row] = []
        if frontier != nil {
            frontier?.add(hash, to: &rows)
        } else {
            rows.append(TreeWork.Row(key: SubtreeKey(level: 1, number: finding.tile), hash: hash))
        }
        let wrong = try storing { () throws(StorageError) in
            let read = try store.environment.beginRead()
            let hashedTiles = try store.hashedTiles(read)
            guard finding.tile < hashedTiles else { return false }
            for row in rows where try store.treeHash(row.key, read) != row.hash { return true }
            return false
        }
        if wrong {
            result.add(
                (finding.tile + 1) * LogStore.tileSize, "the tree's hashes of the events up to it do not match these events")
        }
    }
}
