internal import EventLog
internal import LMDB
internal import MeshCrypto

/// An event as copies of its log keep it.
struct CopiedEvent {
    var record: [UInt8] = []
    var salt: ArraySlice<UInt8> = []
    var source: SourceOrigin?

    var header: RecordHeader { RecordHeader(record.span.rawBytes) }

    /// What is the same in all copies of one event: times, flags, encoding and inner hash.
    func commonBytes(_ hasher: inout MerkleHasher) -> [UInt8] {
        // After the sequence, the leaf data has the header, with the source's number in its bytes 16 to 19.
        let leaf = hasher.leafData(ofRecord: record.span.rawBytes, sequence: 0, salt: Array(salt).span.rawBytes)
        return Array(leaf[8..<24] + leaf[28...])
    }
}

extension EventLog {
    /// The event at a place in this log, to be compared with a copy.
    func copiedEvent(at place: UInt64) throws(EventLogError) -> CopiedEvent {
        let reader = try beginRead()
        var cursor = try reader.cursor()
        guard try cursor.seek(EventSequence(place)), cursor.sequence.rawValue == place, cursor.isIntact else {
            throw damage(EventSequence(place))
        }
        let tile = (place - 1) / LogStore.tileSize
        let salts = try storing { () throws(StorageError) in try reader.store.salts(ofTile: tile, reader.transaction) }
        return CopiedEvent(record: cursor.record.copied, salt: salts.salt(Int((place - 1) % LogStore.tileSize)))
    }
}
