internal import LMDB

/// Which events a retention would drop now.
public struct RetentionPlan: Sendable, Equatable {
    /// The last of them: a multiple of 256.
    public let last: EventSequence
    public let count: UInt64
    /// Their lowest and highest arrival time.
    public let firstArrival: Timestamp
    public let lastArrival: Timestamp
    /// About the bytes that they take in the log's file.
    public let bytes: Int
    /// The bytes of the log's rows now, free room in its file not counted.
    public let logBytes: Int
}

extension EventLog {
    /// The bytes of the log's rows, free room in its file not counted. In constant time.
    public func size() throws(EventLogError) -> Int {
        let store = try currentStore()
        return try storing { () throws(StorageError) in
            let read = try store.environment.beginRead()
            var pages = 0
            for table in [
                store.events, store.sealed, store.arrivals, store.salts, store.tree, store.sources, store.cursors, store.meta,
            ] { pages += try read.statistics(table).pages }
            return try pages * store.environment.info().pageSize
        }
    }

    /// What would be dropped to keep no event that arrived before `time` and no more than `bytes` of rows, as far as multiples of 256 events
    /// allow. Where the clock had jumped, an event that arrived later keeps those behind it.
    ///
    /// - Returns: nil where nothing would.
    public func retentionPlan(olderThan time: Timestamp?, largerThan bytes: Int?) throws(EventLogError) -> RetentionPlan? {
        let (first, head) = (first.rawValue, head.rawValue)
        guard head >= first else { return nil }
        let size = try size()
        var last = first - 1
        if let time {
            let young = try firstSequence(arrivedFrom: time)?.rawValue ?? head + 1
            if young > last { last = min(young - 1, head) }
        }
        if let bytes, size > bytes {
            var reached = first - 1
            try visitSizes { (end, sum) in
                reached = end
                return sum < size - bytes
            }
            last = max(last, min(reached + LogStore.tileSize - 1, head))
        }
        last = last / LogStore.tileSize * LogStore.tileSize
        guard last >= first else { return nil }
        var dropped = 0
        try visitSizes { (end, sum) in
            if end <= last { dropped = sum }
            return end < last
        }
        let arrivals = try arrivals(after: first - 1, through: last)
        return RetentionPlan(
            last: EventSequence(last), count: last - first + 1, firstArrival: Timestamp(microseconds: arrivals.lowest),
            lastArrival: Timestamp(microseconds: arrivals.highest), bytes: dropped, logBytes: size)
    }

    /// Visits rising sequences, the head at most, with about the bytes that all kept events up to them take, until `body` returns false.
    private func visitSizes(_ body: (_ last: UInt64, _ bytes: Int) -> Bool) throws(EventLogError) {
        let reader = try beginRead()
        let store = reader.store
        try storing { () throws(StorageError) in
            var (sum, end): (Int, UInt64) = (0, 0)
            var blocks = try reader.transaction.cursor(store.sealed)
            var isThere = try blocks.first()
            while isThere {
                guard let first = SequenceKey.sequence(blocks.key), let header = BlockHeader(blocks.value, first: first),
                    first > end, header.last <= reader.lastSealed
                else { throw .malformed(BlockHeader.self) }
                end = header.last
                let bytes = blocks.value.byteCount
                isThere = try blocks.next()
                guard header.last > reader.cut else { continue }
                sum += (bytes + BlockEncoder.pageHeader + BlockEncoder.page - 1) / BlockEncoder.page * BlockEncoder.page
                guard body(header.last, sum) else { return }
            }
            let hot = Int(clamping: reader.head.rawValue - reader.lastSealed)
            guard hot > 0 else { return }
            let hotBytes = try reader.transaction.statistics(store.events).pages * BlockEncoder.page
            var last = reader.lastSealed
            while last < reader.head.rawValue {
                last = min(reader.head.rawValue, (last / LogStore.tileSize + 1) * LogStore.tileSize)
                guard body(last, sum + hotBytes / hot * Int(clamping: last - reader.lastSealed)) else { return }
            }
        }
    }
}
