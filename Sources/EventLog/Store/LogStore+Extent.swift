internal import LMDB

/// How far the log extends, and up to where it is sealed.
struct LogExtent: Sendable, Equatable {
    /// The last sequence, 0 if the log is empty.
    var head: UInt64 = 0
    /// The last sequence that retention has dropped, 0 if nothing was dropped: a multiple of 256.
    var cut: UInt64 = 0
    /// The last sequence that is in a sealed block or dropped; 0 if no event is.
    var lastSealed: UInt64 = 0
}

extension LogStore {
    func extent<Transaction: TransactionReading & ~Copyable>(
        _ read: borrowing Transaction
    ) throws(StorageError) -> LogExtent {
        var cursor = try read.cursor(events)
        let isSealed = try read.count(sealed) > 0
        let cut = try read.get(Table<String, UInt64>(raw: meta), CutRow.cut) ?? 0
        guard try cursor.last() else {
            let last = max(cut, isSealed ? try lastOfLastBlock(read) : 0)
            return LogExtent(head: last, cut: cut, lastSealed: last)
        }
        guard let head = SequenceKey.sequence(cursor.key) else { throw .malformed(UInt64.self) }
        let hot = UInt64(try read.count(events))
        guard isSealed || cut > 0 else {
            guard head == hot else { throw gap }
            return LogExtent(head: head)
        }
        guard try cursor.first(), let first = SequenceKey.sequence(cursor.key), first > 0 else {
            throw .malformed(UInt64.self)
        }
        let lastSealed = max(first - 1, cut)
        guard lastSealed <= head else {
            throw StorageError(.corrupt, call: "the events end before those that are sealed or dropped", path: environment.path)
        }
        guard head - lastSealed == hot else { throw gap }
        return LogExtent(head: head, cut: cut, lastSealed: lastSealed)
    }

    /// The last event's number and the number of events disagree: a caller that counts from one to the other would read the wrong events.
    private var gap: StorageError { StorageError(.corrupt, call: "the sequence has gaps", path: environment.path) }

    private func lastOfLastBlock<Transaction: TransactionReading & ~Copyable>(
        _ read: borrowing Transaction
    ) throws(StorageError) -> UInt64 {
        var cursor = try read.cursor(sealed)
        guard try cursor.last(), let first = SequenceKey.sequence(cursor.key) else { throw .malformed(UInt64.self) }
        if let header = BlockHeader(cursor.value, first: first) { return header.last }
        // The block is damaged: use the index of arrival times, which lists the full tiles.
        return max(first, try fullTiles(read) * LogStore.tileSize)
    }

    /// The number of full tiles in the index of arrival times, including dropped ones.
    func fullTiles<Transaction: TransactionReading & ~Copyable>(
        _ read: borrowing Transaction
    ) throws(StorageError) -> UInt64 {
        var cursor = try read.cursor(arrivals)
        guard try cursor.last(), let tile = SequenceKey.sequence(cursor.key) else { return 0 }
        return min(tile, .max / LogStore.tileSize - 1) + 1
    }
}
