internal import LMDB

/// Which events a retention would drop now.
public struct RetentionPlan: Sendable, Equatable {
    /// The last of them: a multiple of 256.
    public let last: EventSequence
    public let count: UInt64
    /// Their lowest and highest arrival time.
    public let firstArrival: Timestamp
    public let lastArrival: Timestamp
    /// The approximate number of bytes that they take in the log's file.
    public let bytes: Int
    /// The bytes of the log's rows now, without the free space in its file.
    public let logBytes: Int
}

/// What a retention would drop by the log's own time, and what by the clock.
public struct RetentionOutlook: Sendable {
    /// Nil if nothing would be dropped.
    public let plan: RetentionPlan?
    /// The time from which ages count; nil if no age is given.
    public var logTime: Timestamp?
    /// What the clock would have dropped instead, if that is more: nothing in the log confirms yet that this much time has passed.
    public var byClock: RetentionPlan?
    /// The events that the plan keeps.
    var kept: UInt64 = 0

    init(plan: RetentionPlan?, logTime: Timestamp? = nil) { (self.plan, self.logTime) = (plan, logTime) }

    /// Whether the clock would drop more than half of what the log's own time keeps.
    public var isHeldBack: Bool {
        guard let byClock else { return false }
        return (byClock.last.rawValue - (plan?.last.rawValue ?? byClock.last.rawValue - byClock.count)) > kept / 2
    }
}

extension EventLog {
    /// The bytes of the log's rows, without the free space in its file and the origins of copied events, which no cut frees. In constant time.
    /// - Throws: `.closed`, and errors of the file.
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
    /// allow. If the clock had jumped, an event that arrived later keeps the events after it.
    ///
    /// - Returns: nil if nothing would be dropped.
    /// - Throws: `.corrupt` at a damaged record, `.closed`, and errors of the file.
    public func retentionPlan(olderThan time: Timestamp?, largerThan bytes: Int?) throws(EventLogError) -> RetentionPlan? {
        let (first, head) = (first.rawValue, head.rawValue)
        guard head >= first else { return nil }
        var last = first - 1
        if let time {
            let young = try firstSequence(arrivedFrom: time)?.rawValue ?? head + 1
            if young > last { last = min(young - 1, head) }
        }
        return try retentionPlan(through: last, first...head, largerThan: bytes)
    }

    /// What would be dropped to keep no event older than this many seconds by the log's own time, and no more than `bytes` of rows: a clock
    /// that has jumped makes no event old.
    /// - Throws: `.corrupt` at a damaged record, `.closed`, and errors of the file.
    public func retentionOutlook(
        olderThan seconds: Int64?, largerThan bytes: Int?, now: Timestamp
    ) throws(EventLogError) -> RetentionOutlook {
        let byClock = try retentionPlan(olderThan: seconds.map { now.adding(seconds: -$0) }, largerThan: bytes)
        guard let seconds else { return RetentionOutlook(plan: byClock) }
        let (first, head) = (first.rawValue, head.rawValue)
        guard head >= first else { return RetentionOutlook(plan: nil) }
        let ages = try ages(olderThan: seconds, now: now)
        let plan = try retentionPlan(through: max(ages.lastOld, first - 1), first...head, largerThan: bytes)
        var outlook = RetentionOutlook(plan: plan, logTime: ages.time)
        if let byClock, byClock.last > plan?.last ?? .zero { outlook.byClock = byClock }
        outlook.kept = head - (plan?.last.rawValue ?? first - 1)
        return outlook
    }

    /// - Parameter old: the last event to drop regardless of size.
    private func retentionPlan(
        through old: UInt64, _ events: ClosedRange<UInt64>, largerThan bytes: Int?
    ) throws(EventLogError) -> RetentionPlan? {
        let (first, head) = (events.lowerBound, events.upperBound)
        let size = try size()
        var last = old
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

    /// Visits ascending sequences, the head at most, with the approximate size of all kept events up to them, until `body` returns false.
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
            let hotBytes = try reader.transaction.statistics(store.events).pages * BlockEncoder.page
            var last = reader.lastSealed
            while last < reader.head.rawValue {
                last = min(reader.head.rawValue, (last / LogStore.tileSize + 1) * LogStore.tileSize)
                guard body(last, sum + hotBytes / hot * Int(clamping: last - reader.lastSealed)) else { return }
            }
        }
    }
}
