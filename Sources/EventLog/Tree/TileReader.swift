internal import LMDB
internal import MeshCrypto

/// Reads tiles and hashes their events.
struct TileReader: ~Copyable {
    let reader: LogReader
    private(set) var hasher = MerkleHasher()

    init(_ reader: consuming LogReader) { self.reader = reader }

    /// The leaf hashes of a tile's first `count` events.
    mutating func leaves(ofTile tile: UInt64, count: Int = Int(LogStore.tileSize)) throws(EventLogError) -> [SHA256Digest] {
        let store = reader.store
        let first = tile * LogStore.tileSize + 1
        guard first > reader.cut else {
            throw EventLogError(
                .beyondRetention, path: store.environment.path,
                detail: "event \(first); the first that is kept is \(reader.cut + 1)")
        }
        let salts = try storing { () throws(StorageError) in try store.salts(ofTile: tile, reader.transaction) }
        var leaves: [SHA256Digest] = []
        leaves.reserveCapacity(count)
        var cursor = try reader.cursor()
        var isThere = try cursor.seek(EventSequence(first))
        while leaves.count < count {
            let sequence = first + UInt64(leaves.count)
            guard isThere, cursor.sequence.rawValue == sequence, cursor.isIntact else {
                throw EventLogError(
                    .corrupt, path: store.environment.path, detail: "event \(sequence) is missing or its checksum does not match")
            }
            let salt = salts.bytes.span.rawBytes.extracting(first: TileSalts.saltSize * (leaves.count + 1))
                .extracting(last: TileSalts.saltSize)
            leaves.append(hasher.leafHash(ofRecord: cursor.record, sequence: sequence, salt: salt))
            isThere = try cursor.next()
        }
        return leaves
    }

    /// The hash of a full tile, computed from its events.
    mutating func tileHash(_ tile: UInt64) throws(EventLogError) -> SHA256Digest { hasher.root(try leaves(ofTile: tile)) }

    mutating func nodeHash(_ left: SHA256Digest, _ right: SHA256Digest) -> SHA256Digest { hasher.nodeHash(left, right) }
}
