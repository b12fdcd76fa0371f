/// Many events in one reusable buffer, without an allocation per event.
///
/// ```swift
/// var batch = EventBatch()
/// for line in lines { batch.append(line.span.bytes, encoding: .note, source: source) }
/// try await log.append(batch)
/// batch.removeAll()
/// ```
public struct EventBatch: Sendable {
    struct Entry: Sendable {
        var end: Int
        var header: RecordHeader
    }

    private(set) var bytes: [UInt8] = []
    private(set) var entries: [Entry] = []
    /// Whether the events keep the arrival times of their headers, as copies of another log's events do. Otherwise they arrive when they are appended.
    package var keepsArrivals = false
    /// What copies of another log's events have besides their records.
    package var copied: CopiedParts?
    /// The sequence that the first event must get. If another append was faster, nothing is stored, and the append throws `.cursorMoved`.
    package var place: UInt64?
    /// Whether a caller has added events that only the log itself may write.
    private(set) var posesAsLog = false
    /// The size of the largest payload that a caller has added. Copies may be larger: what another log has stored is kept.
    private(set) var largest = 0

    public init() {}

    /// The number of events.
    public var count: Int { entries.count }
    public var isEmpty: Bool { entries.isEmpty }
    /// The total size of all payloads.
    public var byteCount: Int { bytes.count }

    /// Appends a copy of the payload.
    public mutating func append(
        _ payload: RawSpan, encoding: PayloadEncoding, source: SourceID, reception: Reception = .live, isMasked: Bool = false
    ) {
        unsafe payload.withUnsafeBytes { unsafe bytes.append(contentsOf: $0) }
        let header = RecordHeader(encoding: encoding, source: source, reception: reception, isMasked: isMasked)
        entries.append(Entry(end: bytes.count, header: header))
        if encoding.isOfLog && source == .log { posesAsLog = true }
        largest = max(largest, payload.byteCount)
    }

    public mutating func append(_ event: NewEvent) {
        append(own: event)
        if event.isOfLog { posesAsLog = true }
        largest = max(largest, event.payload.count)
    }

    /// Empties the batch and keeps its memory.
    public mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        entries.removeAll(keepingCapacity: true)
        posesAsLog = false
        largest = 0
        place = nil
        if copied != nil { copied = CopiedParts() }
    }
}

extension EventBatch {
    /// Copies a record as stored elsewhere, which has at least the header's size.
    /// - Parameter source: the source's number here, nil if it is the same.
    package mutating func append(record: RawSpan, source: SourceID? = nil) {
        unsafe record.extracting(droppingFirst: RecordHeader.size).withUnsafeBytes { unsafe bytes.append(contentsOf: $0) }
        var header = RecordHeader(record)
        if let source { header.source = source.rawValue }
        entries.append(Entry(end: bytes.count, header: header))
    }

    /// The number of an event's source, and when the event arrived.
    package func source(of event: Int) -> (number: UInt32, arrival: Timestamp) {
        let header = entries[event].header
        return (header.source, Timestamp(microseconds: header.arrival))
    }

    package mutating func setSource(_ source: SourceID, of event: Int) { entries[event].header.source = source.rawValue }

    /// Adds an event that the log itself writes.
    mutating func append(own event: NewEvent) {
        bytes.append(contentsOf: event.payload)
        entries.append(Entry(end: bytes.count, header: RecordHeader(event)))
    }

    /// Adds an event that the log itself writes, with its arrival time, to a batch that keeps arrival times.
    package mutating func append(own event: NewEvent, arrival: Timestamp) {
        append(own: event)
        entries[entries.count - 1].header.arrival = arrival.microseconds
    }
}
