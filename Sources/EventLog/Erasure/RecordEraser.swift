internal import LMDB
internal import MeshCrypto

/// Replaces payloads with their inner hashes, in plain records and in sealed blocks, and salts with zeros. What is erased already stays as it is, so
/// the run can be repeated after an interruption.
///
/// Unchecked: only one job at a time uses it, while the writer is stopped.
final class RecordEraser: PreparedWork, @unchecked Sendable {
    /// The most payloads that one transaction erases, so that appends do not wait long.
    private static let (blocksAtOnce, recordsAtOnce) = (32, 4096)

    private let sequences: SequenceSet
    /// The first event that has not been examined yet, nil when all have: as stored, and as of the end of the transaction.
    private(set) var next: UInt64?
    private var nextWhenStored: UInt64?

    private let decoder: BlockDecoder
    private let encoder: BlockEncoder
    private var hasher = MerkleHasher()
    /// The salts of tiles in the current transaction: as they were, and as they will be.
    private var salts: [UInt64: (before: TileSalts, after: [UInt8])] = [:]
    private var run = RecordRun()

    init(_ sequences: SequenceSet, _ summariser: EventSummariser?) throws(StorageError) {
        self.sequences = sequences
        next = sequences.first(from: 0)
        decoder = try BlockDecoder()
        encoder = try BlockEncoder(summariser: summariser)
    }

    /// Erases the next events, as many as one transaction takes.
    func move(into write: inout WriteTransaction, _ store: LogStore) throws(StorageError) {
        salts = [:]
        let lastSealed = try store.extent(write).lastSealed
        var (blocks, records) = (0, 0)
        nextWhenStored = next
        while let first = nextWhenStored, blocks < Self.blocksAtOnce, records < Self.recordsAtOnce {
            var last = first
            if first <= lastSealed {
                last = try eraseBlock(with: first, &write, store)
                blocks += 1
            } else {
                try eraseHot(first, &write, store)
                records += 1
            }
            nextWhenStored = sequences.first(from: last + 1)
        }
        for (tile, salts) in salts {
            let key = SequenceKey(tile)
            try write.put(store.salts, key: key.span, value: salts.after.span.rawBytes)
        }
    }

    func ended(_ failure: StorageError?) {
        if failure == nil { next = nextWhenStored }
    }

    private func eraseHot(_ sequence: UInt64, _ write: inout WriteTransaction, _ store: LogStore) throws(StorageError) {
        let key = SequenceKey(sequence)
        guard let record = try write.get(store.events, key.span)?.copied, record.count >= RecordHeader.size else {
            throw Self.damage(sequence, store)
        }
        guard let erased = try erased(record, sequence, &write, store) else { return }
        try write.put(store.events, key: key.span, value: erased.span.rawBytes)
    }

    /// - Returns: the block's last event.
    private func eraseBlock(
        with sequence: UInt64, _ write: inout WriteTransaction, _ store: LogStore
    ) throws(StorageError) -> UInt64 {
        let first = try decodeBlock(of: sequence, write, store)
        guard sequence <= run.last else { throw Self.damage(sequence, store) }
        var changed = RecordRun()
        changed.begin(at: first)
        var isChanged = false
        for index in 0..<run.count {
            let number = first + UInt64(index)
            if sequences.contains(number), let record = try erased(run.record(index).copied, number, &write, store) {
                changed.append(record.span.rawBytes)
                isChanged = true
            } else {
                changed.append(run.record(index))
            }
        }
        if isChanged {
            let block = try encoder.encode(changed, count: changed.count)
            let key = SequenceKey(first)
            try write.put(store.sealed, key: key.span, value: block.bytes.span.rawBytes)
        }
        return run.last
    }

    /// - Returns: the block's first event.
    private func decodeBlock(
        of sequence: UInt64, _ write: borrowing WriteTransaction, _ store: LogStore
    ) throws(StorageError) -> UInt64 {
        var blocks = try write.cursor(store.sealed)
        let key = SequenceKey(sequence)
        guard try blocks.seek(atOrBefore: key.span), let first = SequenceKey.sequence(blocks.key),
            decoder.decode(blocks.value, first: first, into: &run)
        else { throw Self.damage(sequence, store) }
        return first
    }

    /// The record without its payload; nil if it is erased already, or is an event of the log itself.
    private func erased(
        _ record: [UInt8], _ sequence: UInt64, _ write: inout WriteTransaction, _ store: LogStore
    ) throws(StorageError) -> [UInt8]? {
        guard Record.isIntact(record.span.rawBytes, sequence: sequence) else { throw Self.damage(sequence, store) }
        guard !Record.isErased(record.span.rawBytes), RecordHeader(record.span.rawBytes).source != 0 else { return nil }
        let (tile, place) = ((sequence - 1) / LogStore.tileSize, Int((sequence - 1) % LogStore.tileSize))
        let salt = try salt(tile, place, write, store)
        let inner = hasher.innerHash(
            salt: salt.span.rawBytes, payload: record.span.rawBytes.extracting(droppingFirst: RecordHeader.size))
        return Record.erased(record, inner: inner, sequence: sequence)
    }

    /// Returns the event's salt, and erases it.
    private func salt(
        _ tile: UInt64, _ place: Int, _ write: borrowing WriteTransaction, _ store: LogStore
    ) throws(StorageError) -> [UInt8] {
        if salts[tile] == nil {
            let stored = try store.salts(ofTile: tile, write)
            salts[tile] = (stored, stored.bytes)
        }
        let salt = salts[tile].map { Array($0.before.salt(place)) } ?? []
        let zeros = [UInt8](repeating: 0, count: TileSalts.saltSize)
        salts[tile]?.after.replaceSubrange(TileSalts.saltSize * place..<TileSalts.saltSize * (place + 1), with: zeros)
        return salt
    }

    private static func damage(_ sequence: UInt64, _ store: LogStore) -> StorageError {
        StorageError(.corrupt, call: "erasing event \(sequence), which is missing or damaged", path: store.environment.path)
    }
}
