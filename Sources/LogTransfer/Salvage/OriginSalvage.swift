internal import EventLog
internal import LMDB
internal import MeshCrypto

/// A salvaged event's origin, and the salt that it was copied with.
struct SalvagedOrigin: Sendable {
    let ledger: LedgerID
    let sequence: UInt64
    let salt: [UInt8]
}

/// Finds the origins and salts of events that are salvaged in the order of their sequences.
///
/// An origin is kept only together with its salt: with another salt the event would differ from the same event in other logs. Salts have no checksum;
/// they are compared with the tree's hash of their tile.
struct OriginSalvage {
    private let live: LiveTables
    private let file: DataFile
    private var row = 0
    private var runs: (first: UInt64, runs: [OriginRun], place: Int, start: UInt64)?
    private var tile: (number: UInt64, salts: TileSalts?)?
    private var leaves: [SHA256Digest] = []
    private var hasher = MerkleHasher()
    /// Whether an event of this tile is lost, so that its hash cannot be computed.
    var isMissing = false
    /// Copies in this tile.
    private var copies: UInt64 = 0
    /// The numbers of events whose origins are kept, and of those whose origins are lost.
    private(set) var kept: UInt64 = 0
    private(set) var lost: UInt64 = 0

    init(_ live: LiveTables, _ file: DataFile) { (self.live, self.file) = (live, file) }

    mutating func origin(of sequence: UInt64, _ record: RawSpan) -> SalvagedOrigin? {
        guard !live.origins.isEmpty else { return nil }
        let number = (sequence - 1) / LogStore.tileSize
        if tile?.number != number { tile = (number, salts(ofTile: number)) }
        let salt = (tile?.salts).map { Array($0.salt(Int((sequence - 1) % LogStore.tileSize))) }
        if let salt {
            leaves.append(hasher.leafHash(ofRecord: record, sequence: sequence, salt: salt.span.rawBytes))
        }
        guard let origin = next(sequence) else { return nil }
        guard let salt else {
            lost += 1
            return nil
        }
        copies += 1
        return SalvagedOrigin(ledger: origin.ledger, sequence: origin.sequence, salt: salt)
    }

    /// What the rows state about this event; sequences ascend from call to call.
    private mutating func next(_ sequence: UInt64) -> (ledger: LedgerID, sequence: UInt64)? {
        while row < live.origins.count, live.origins[row].first <= sequence {
            let (first, bytes) = live.origins[row]
            if let found = OriginRow.runs(bytes.span.rawBytes, first: first) { runs = (first, found, 0, first) }
            row += 1
        }
        guard var current = runs else { return nil }
        while current.place < current.runs.count, sequence - current.start >= current.runs[current.place].count {
            current.start += current.runs[current.place].count
            current.place += 1
        }
        runs = current
        guard current.place < current.runs.count else { return nil }
        let run = current.runs[current.place]
        return (run.ledger, run.first + (sequence - current.start))
    }

    private func salts(ofTile number: UInt64) -> TileSalts? {
        guard let place = live.salts[number] else { return nil }
        var bytes: [UInt8] = []
        guard file.read(place.bytes, at: place.place, into: &bytes) else { return nil }
        return TileSalts(stored: Array(bytes.prefix(place.bytes)))
    }

    /// - Returns: false if the salts of the tile that ends here do not match the tree.
    mutating func endTile() -> Bool {
        defer {
            leaves.removeAll(keepingCapacity: true)
            (isMissing, copies) = (false, 0)
        }
        var isTrue = true
        if !isMissing, let number = tile?.number, leaves.count == Int(LogStore.tileSize), let hash = live.cut.hashes[number] {
            isTrue = hasher.root(leaves) == hash
        }
        if isTrue { kept += copies } else { lost += copies }
        return isTrue
    }
}
