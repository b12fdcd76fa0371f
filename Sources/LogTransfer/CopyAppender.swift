internal import EventLog

/// Appends copies of other logs' events, which keep their times, salts and origins.
struct CopyAppender {
    /// Bytes and events in one append; a multiple of a tile.
    private static let (byteLimit, countLimit) = (4 << 20, 16_384)

    let log: EventLog
    private var batch = EventBatch()
    private var parts = CopiedParts()
    private var sources: [SourceOrigin: SourceID] = [:]
    private(set) var count: UInt64 = 0
    /// Copies with erased payloads.
    private(set) var erased = SequenceSet()
    private var erasedPlaces: [UInt64] = []
    /// Whether what was appended stays after an interruption.
    private let isInPlace: Bool

    init(_ log: EventLog, isInPlace: Bool = false) {
        self.log = log
        self.isInPlace = isInPlace
        batch.keepsArrivals = true
    }

    var isFull: Bool { batch.byteCount >= Self.byteLimit || batch.count >= Self.countLimit }

    /// The source's number here.
    mutating func source(_ origin: SourceOrigin, first: Timestamp) async throws(EventLogError) -> SourceID {
        if let known = sources[origin] { return known }
        let number = try await log.source(copied: origin.copiedName, created: first)
        sources[origin] = number
        return number
    }

    /// - Parameter source: its number here, nil if it is the same.
    mutating func add(
        _ record: RawSpan, salt: ArraySlice<UInt8>, origin: (ledger: LedgerID, sequence: UInt64), source: SourceID
    ) {
        noteErased(record)
        batch.append(record: record, source: source)
        parts.salts += salt
        parts.origins.append(origin.ledger, origin.sequence)
    }

    /// Adds an event that the log itself writes.
    mutating func add(
        _ event: NewEvent, at arrival: Timestamp, salt: ArraySlice<UInt8>, origin: (ledger: LedgerID, sequence: UInt64)
    ) {
        batch.append(own: event, arrival: arrival)
        parts.salts += salt
        parts.origins.append(origin.ledger, origin.sequence)
    }

    /// Adds an event that keeps its sequence and its source's number.
    /// - Parameter origin: nil if all events are the log's own.
    mutating func addExact(
        _ record: RawSpan, origin: (ledger: LedgerID, sequence: UInt64)?, salt: ArraySlice<UInt8>?
    ) {
        noteErased(record)
        batch.append(record: record)
        if let origin { parts.origins.append(origin.ledger, origin.sequence) }
        if let salt { parts.salts += salt }
    }

    mutating func setTile(_ number: UInt64, _ stored: [UInt8]) { parts.tiles[number] = stored }

    /// Stores the added events.
    /// - Returns: the first event's sequence, nil if there were none.
    @discardableResult
    mutating func flush() async throws(EventLogError) -> EventSequence? {
        guard !batch.isEmpty else { return nil }
        if isInPlace, !erasedPlaces.isEmpty { parts.untold = UntoldErasures(places: erasedPlaces, signer: try log.signer()) }
        batch.copied = parts
        let added = UInt64(batch.count)
        let range = try await log.append(batch)
        if let first = range?.lowerBound.rawValue { for place in erasedPlaces { erased.append(first + place) } }
        erasedPlaces = []
        batch.removeAll()
        parts = CopiedParts()
        count += added
        return range?.lowerBound
    }

    private mutating func noteErased(_ record: RawSpan) {
        if Record.isErased(record) { erasedPlaces.append(UInt64(batch.count)) }
    }
}
