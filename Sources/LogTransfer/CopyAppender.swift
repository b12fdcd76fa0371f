internal import EventLog

/// Appends copies of other logs' events, which keep their times, salts and origins.
struct CopyAppender {
    /// Bytes and events in one append; a multiple of a tile.
    private static let (byteLimit, countLimit) = (4 << 20, 16_384)

    let log: EventLog
    private var batch = EventBatch()
    private var parts = CopiedParts()
    /// The salts of all events that were added exactly, for the case that they get other sequences.
    private var exactSalts: [UInt8] = []
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
    /// - Parameters:
    ///   - origin: nil if all events are the log's own.
    ///   - isOfTile: whether the salts of its whole tile are given.
    mutating func addExact(
        _ record: RawSpan, origin: (ledger: LedgerID, sequence: UInt64)?, salt: ArraySlice<UInt8>, isOfTile: Bool
    ) {
        noteErased(record)
        batch.append(record: record)
        if let origin { parts.origins.append(origin.ledger, origin.sequence) }
        if !isOfTile { parts.salts += salt }
        exactSalts += salt
    }

    mutating func setTile(_ number: UInt64, _ stored: [UInt8]) { parts.tiles[number] = stored }

    /// Stores the added events, which were added exactly, at this place.
    /// - Returns: false if another append was faster, and nothing was stored.
    mutating func flush(at place: UInt64) async throws(EventLogError) -> Bool {
        batch.place = place
        do throws(EventLogError) {
            try await flush()
            return true
        } catch {
            guard error.code == .cursorMoved else { throw error }
            return false
        }
    }

    /// Makes what was added exactly copies as others are: anywhere in the log, with sources of their own.
    /// - Parameter name: of a source of the log that they come from.
    mutating func releasePlaces(_ name: (UInt32) -> String?) async throws(EventLogError) {
        batch.place = nil
        (parts.salts, parts.tiles) = (exactSalts, [:])
        var event = 0
        for run in parts.origins {
            for _ in 0..<run.count {
                let (number, arrival) = batch.source(of: event)
                batch.setSource(try await source(SourceOrigin(run.ledger, named: name(number)), first: arrival), of: event)
                event += 1
            }
        }
    }

    /// Stores the added events.
    mutating func flush() async throws(EventLogError) {
        guard !batch.isEmpty else { return }
        if isInPlace, !erasedPlaces.isEmpty {
            parts.unrecorded = UnrecordedErasures(places: erasedPlaces, signer: try log.signer())
        }
        batch.copied = parts
        let added = UInt64(batch.count)
        let range = try await log.append(batch)
        if let first = range?.lowerBound.rawValue { for place in erasedPlaces { erased.append(first + place) } }
        erasedPlaces = []
        batch.removeAll()
        parts = CopiedParts()
        exactSalts.removeAll(keepingCapacity: true)
        count += added
    }

    private mutating func noteErased(_ record: RawSpan) {
        if Record.isErased(record) { erasedPlaces.append(UInt64(batch.count)) }
    }
}
