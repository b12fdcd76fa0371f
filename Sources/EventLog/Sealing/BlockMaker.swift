internal import LMDB

/// Makes blocks from the log's oldest plain records, in short read transactions. One thread at a time.
///
/// Unchecked: only the sealer's queue uses it, one job at a time.
final class BlockMaker: @unchecked Sendable {
    /// Records read and not yet in a block.
    private var run = RecordRun()
    private let encoder: BlockEncoder
    private let stores: StoreBox
    private var store: LogStore { stores.store }

    init(stores: StoreBox, summariser: EventSummariser?) throws(StorageError) {
        self.stores = stores
        encoder = try BlockEncoder(summariser: summariser)
    }

    /// Makes the next block.
    ///
    /// - Parameters:
    ///   - next: the first event that is in no block yet, stored or in preparation.
    ///   - last: the last event that may be sealed.
    ///   - isWhole: whether to make a smaller block if nothing more is available.
    /// - Returns: the block and the stored checksums of its records; nil if there is too little.
    /// - Throws: `.corrupt` at a record that is not as it was stored: a block would hide the damage forever.
    func next(
        from next: UInt64, through last: UInt64, isWhole: Bool
    ) throws(EventLogError) -> (EncodedBlock, checksums: [UInt64])? {
        guard next <= last else { return nil }
        if run.first != next { run.begin(at: next) }
        if run.byteCount < BlockEncoder.reach { try read(through: last) }
        guard isWhole || run.byteCount >= BlockEncoder.reach else { return nil }
        let block = try storing { () throws(StorageError) in try encoder.encodeFitting(run) }
        var checksums: [UInt64] = []
        for index in 0..<block.count { checksums.append(run.checksum(index)) }
        run.removeFirst(block.count)
        return (block, checksums)
    }

    private func read(through last: UInt64) throws(EventLogError) {
        let reader = try storing { () throws(StorageError) in try LogReader(store) }
        var cursor = try reader.cursor()
        var next = run.first + UInt64(run.count)
        var isThere = try cursor.seek(EventSequence(next))
        while next <= last, run.byteCount < BlockEncoder.reach {
            guard isThere, cursor.sequence.rawValue == next, cursor.isIntact else {
                throw EventLogError(
                    .corrupt, path: store.environment.path, detail: "event \(next) is missing or damaged and cannot be sealed")
            }
            run.append(cursor.record)
            next += 1
            isThere = try cursor.next()
        }
    }
}
