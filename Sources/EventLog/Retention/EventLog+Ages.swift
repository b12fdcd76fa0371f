internal import LMDB
internal import ProtobufWire

/// The meaning of an age in a log.
struct LogAges {
    /// The last event before the younger ones: the end of a tile, or 0.
    var lastOld: UInt64
    /// The time from which ages count.
    var time: Timestamp
}

extension EventLog {
    /// Which events arrived longer ago than this many seconds, by the log's own time.
    ///
    /// - Complexity: a step per 256 events; single events are read only if their arrivals are far apart, or the clock jumped.
    func ages(olderThan seconds: Int64, now: Timestamp) throws(EventLogError) -> LogAges {
        let reader = try beginRead()
        var walk = AgeWalk(LogTime(age: seconds))
        let jumps = try clockJumps(reader)
        let full = reader.head.rawValue / LogStore.tileSize
        for (tile, range) in try fullTiles(reader) {
            let first = tile * LogStore.tileSize + 1
            let isCalm = LogTime.difference(range.highest, range.lowest) <= walk.time.longestStep
            if isCalm, jumps[in: first...first + LogStore.tileSize - 1].isEmpty {
                walk.see(range.lowest)
                walk.see(range.highest)
            } else {
                try see(first...first + LogStore.tileSize - 1, jumps, reader, &walk)
            }
            walk.endTile(first + LogStore.tileSize - 1)
        }
        let open = max(full * LogStore.tileSize, reader.cut) + 1
        if open <= reader.head.rawValue { try see(open...reader.head.rawValue, jumps, reader, &walk) }
        walk.see(now.microseconds)
        var time = walk.time.time ?? now.microseconds
        // A clock that is behind may be right: nothing is older than it shows.
        if walk.time.isElsewhere { time = min(time, walk.time.inForce(now.microseconds)) }
        let (age, overflows) = seconds.multipliedReportingOverflow(by: 1_000_000)
        let oldest = overflows ? Int64.min : LogTime.difference(time, age)
        return LogAges(lastOld: walk.lastTile(before: oldest), time: Timestamp(microseconds: time))
    }

    private func see(
        _ range: ClosedRange<UInt64>, _ jumps: [UInt64: ClockJump], _ reader: borrowing LogReader, _ walk: inout AgeWalk
    ) throws(EventLogError) {
        var cursor = try reader.cursor()
        var isThere = try cursor.seek(EventSequence(range.lowerBound))
        while isThere, range.contains(cursor.sequence.rawValue) {
            if let jump = jumps[cursor.sequence.rawValue], jump.basis == .steadyClock { walk.time.jump(by: jump.distance) }
            walk.see(try arrival(cursor))
            isThere = try cursor.next()
        }
    }

    /// The jumps that the log records, by the sequences of their events.
    private func clockJumps(_ reader: borrowing LogReader) throws(EventLogError) -> [UInt64: ClockJump] {
        let sequences = try storing { () throws(StorageError) in try reader.store.clockJumps(reader.transaction) }
        var jumps: [UInt64: ClockJump] = [:]
        var cursor = try reader.cursor()
        for sequence in sequences where sequence > reader.cut {
            guard try cursor.seek(EventSequence(sequence)) else { continue }  // `verify` reports what is missing
            guard cursor.isIntact else { throw damage(EventSequence(sequence)) }
            if cursor.header?.encoding == .clockJump { jumps[sequence] = ClockJump(payload: cursor.payload) }
        }
        return jumps
    }

    /// All jumps of the clock that the log records, in the order of their events.
    /// - Throws: `.corrupt` at a damaged record, `.closed`, and errors of the file.
    public func clockJumps() throws(EventLogError) -> [(event: EventSequence, jump: ClockJump)] {
        let reader = try beginRead()
        return try clockJumps(reader).sorted { $0.key < $1.key }.map { (EventSequence($0.key), $0.value) }
    }
}

extension [UInt64: ClockJump] {
    fileprivate subscript(in range: ClosedRange<UInt64>) -> [UInt64] { keys.filter(range.contains) }
}

/// Maps the ends of tiles to the log's time.
private struct AgeWalk {
    var time: LogTime
    /// The last event of each tile, with the latest arrival up to it.
    private var ends: [(last: UInt64, time: Int64)] = []
    /// Tiles that end at a time that is not accepted yet.
    private var waiting: [(last: UInt64, arrival: Int64)] = []
    private var lastArrival: Int64 = 0
    /// 2020-01-01, in microseconds: an earlier arrival is of a clock that was not set, and as old as the next one with a time.
    private static let oldestArrival: Int64 = 1_577_836_800_000_000

    init(_ time: LogTime) { self.time = time }

    mutating func see(_ arrival: Int64) {
        guard arrival >= Self.oldestArrival else {
            lastArrival = .max
            return
        }
        lastArrival = arrival
        switch time.see(arrival) {
        case .goesOn: waiting.removeAll(keepingCapacity: true)
        case .waits: break
        case .moved:
            if let now = time.time { clamp(to: now) }
            for (last, arrival) in waiting {
                ends.append((last, max(ends.last?.time ?? .min, min(time.inForce(arrival), time.time ?? arrival))))
            }
            waiting.removeAll(keepingCapacity: true)
        }
    }

    /// What the clock showed while it was ahead was not later than now.
    private mutating func clamp(to now: Int64) {
        for index in ends.indices.reversed() {
            guard ends[index].time > now else { return }
            ends[index].time = now
        }
    }

    mutating func endTile(_ last: UInt64) {
        if time.isElsewhere || lastArrival == .max {
            waiting.append((last, lastArrival))
        } else if let time = time.time {
            ends.append((last, time))
        }
    }

    /// The end of the last tile before the first one with an event of this time or later.
    func lastTile(before oldest: Int64) -> UInt64 {
        let place = ends.partitioningIndex { $0.time >= oldest }
        return place == 0 ? 0 : ends[place - 1].last
    }
}
