internal import EventLog

/// Fills a new log with what was salvaged.
struct SalvageWriter {
    /// Bytes, and events, in one append.
    private static let batchBytes = 4 << 20
    private static let batchCount = 16_384
    /// Bytes beyond which it does not wait for the end of a tile.
    private static let largestTile = 64 << 20

    private let log: EventLog
    private let clock: SettableClock
    private let own: LedgerID
    private var batch = EventBatch()
    /// The origins of the batch's events.
    private var parts = CopiedParts()
    private var hasCopies = false
    /// Those of the tile that has not ended yet.
    private var tile: [SalvagedOrigin?] = []
    /// The last that the damaged log recorded of dropped events.
    private var retention: Retention?

    init(_ log: EventLog, _ clock: SettableClock) throws(EventLogError) {
        self.log = log
        self.clock = clock
        own = try log.ledgerID
        batch.keepsArrivals = true
    }

    mutating func save(_ record: RawSpan, _ origin: SalvagedOrigin?) throws(EventLogError) {
        if Record.encoding(record) == .retention, RecordHeader(record).source == 0 {
            retention = Retention(payload: record.extracting(droppingFirst: RecordHeader.size)) ?? retention
        }
        batch.append(record: record)
        tile.append(origin)
        if batch.byteCount >= Self.largestTile { try finish() }
    }

    /// Replaces each lost event with a gap event, so that later events keep their sequences.
    mutating func note(lost range: ClosedRange<UInt64>) throws(EventLogError) {
        let now = clock.now
        for sequence in range {
            let gap = Gap(count: 1, first: now, last: now, reason: "event \(sequence) was damaged when this ledger was salvaged")
            batch.append(own: gap.event(of: .log), arrival: now)
            tile.append(nil)
        }
    }

    mutating func endTile(keepsOrigins: Bool) throws(EventLogError) {
        takeTile(keepsOrigins: keepsOrigins)
        if batch.byteCount >= Self.batchBytes || batch.count >= Self.batchCount { try finish() }
    }

    private mutating func takeTile(keepsOrigins: Bool) {
        let first = log.head.rawValue + 1
        if keepsOrigins, !hasCopies, tile.contains(where: { $0 != nil }) {
            hasCopies = true
            for place in 0..<batch.count - tile.count { addOwn(first + UInt64(place)) }
        }
        if hasCopies {
            for (place, origin) in zip(batch.count - tile.count..<batch.count, tile) {
                if keepsOrigins, let origin {
                    parts.origins.append(origin.ledger, origin.sequence)
                    parts.salts += origin.salt
                } else {
                    addOwn(first + UInt64(place))
                }
            }
        }
        tile.removeAll(keepingCapacity: true)
    }

    private mutating func addOwn(_ sequence: UInt64) {
        parts.origins.append(own, sequence)
        parts.salts += log.options.randomBytes(TileSalts.saltSize)
    }

    mutating func finish() throws(EventLogError) {
        takeTile(keepsOrigins: true)
        guard !batch.isEmpty else { return }
        if hasCopies { batch.copied = parts }
        try log.appendBlocking(batch)
        batch.removeAll()
        batch.copied = nil
        parts = CopiedParts()
        hasCopies = false
    }

    /// The new log makes its own record of what it lacks, because another key signed the damaged log's record.
    func record(_ beginning: LogBeginning) throws(EventLogError) {
        let known = retention.flatMap { $0.first.rawValue == beginning.cut + 1 ? $0 : nil }
        try log.record(
            Retention(
                first: EventSequence(beginning.cut + 1), count: 0, firstArrival: known?.firstArrival ?? clock.now,
                lastArrival: known?.lastArrival ?? clock.now, baselines: known?.baselines ?? []), checksum: beginning.checksum)
    }

    /// Restores the numbers and names of the sources.
    func keep(
        _ sources: [UInt32: EventSource], named nameless: [SourceID], _ cursors: [SourceCursor]
    ) async throws(EventLogError) {
        let highest = max(sources.keys.max() ?? 0, nameless.last?.rawValue ?? 0)
        // A number that no file can have assigned is damaged.
        guard highest > 0, highest < 1 << 20 else { return try await keep(cursors) }
        for number in 1...highest {
            let source = sources[number]
            clock.show(source?.created)
            var name = source?.name ?? "source \(number), whose name was lost"
            if log.names[name] != nil { name += " (\(number))" }
            _ = try await log.source(named: name)
        }
        clock.show(nil)
        try await keep(cursors)
    }

    private func keep(_ cursors: [SourceCursor]) async throws(EventLogError) {
        for cursor in cursors where (1...500).contains(cursor.key.utf8.count) { try await log.append([], cursor: cursor) }
    }
}
