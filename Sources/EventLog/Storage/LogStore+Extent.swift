internal import LMDB

/// How far the log reaches, and up to where it is sealed.
struct LogExtent: Sendable, Equatable {
    /// The last sequence, 0 when the log is empty.
    var head: UInt64 = 0
    /// The last sequence that is in a sealed block, 0 when none is.
    var lastSealed: UInt64 = 0
}

extension LogStore {
    func extent<Transaction: TransactionReading & ~Copyable>(
        _ read: borrowing Transaction
    ) throws(StorageError) -> LogExtent {
        var cursor = try read.cursor(events)
        let isSealed = try read.count(sealed) > 0
        guard try cursor.last() else {
            let last = isSealed ? try lastOfLastBlock(read) : 0
            return LogExtent(head: last, lastSealed: last)
        }
        guard let head = SequenceKey.sequence(cursor.key) else { throw .malformed(UInt64.self) }
        guard isSealed else { return LogExtent(head: head) }
        guard try cursor.first(), let first = SequenceKey.sequence(cursor.key), first > 0 else {
            throw .malformed(UInt64.self)
        }
        return LogExtent(head: head, lastSealed: first - 1)
    }

    private func lastOfLastBlock<Transaction: TransactionReading & ~Copyable>(
        _ read: borrowing Transaction
    ) throws(StorageError) -> UInt64 {
        var cursor = try read.cursor(sealed)
        guard try cursor.last(), let first = SequenceKey.sequence(cursor.key) else { throw .malformed(UInt64.self) }
        if let header = BlockHeader(cursor.value, first: first) { return header.last }
        // A damaged block: the index of arrival times knows the full tiles.
        return max(first, UInt64(try read.count(arrivals)) * LogStore.tileSize)
    }
}
