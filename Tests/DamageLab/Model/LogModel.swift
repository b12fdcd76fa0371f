import EventLog

/// What a log should answer, kept in arrays.
struct LogModel {
    private(set) var events: [ModelEvent] = []
    private(set) var payloadBytes = 0
    var cursors: [String: [UInt8]] = [:]
    var sources: [String] = []
    /// The last event that each consumer acknowledged.
    var consumers: [String: UInt64] = [:]
    /// The roots that were seen, by the number of events below them.
    var roots: [UInt64: [UInt8]] = [:]

    var head: UInt64 { UInt64(events.count) }

    mutating func append(_ new: [NewEvent], at time: Timestamp) {
        for event in new {
            events.append(ModelEvent(event, sequence: head + 1, arrivalTime: time))
            payloadBytes += event.payload.count
        }
    }

    /// - Parameter event: the log's own event that says so.
    mutating func erase(_ sequences: Set<UInt64>, event: ModelEvent) {
        for sequence in sequences {
            payloadBytes -= events[Int(sequence) - 1].payload.count
            events[Int(sequence) - 1] = events[Int(sequence) - 1].erased
        }
        events.append(event)
        payloadBytes += event.payload.count
    }

    /// The number that a source of that name must get, new or not.
    mutating func source(_ name: String) -> UInt32 {
        if let place = sources.firstIndex(of: name) { return UInt32(place + 1) }
        sources.append(name)
        return UInt32(sources.count)
    }

    func last(arrivedBy time: Timestamp) -> UInt64 {
        (events.lastIndex { $0.arrivalTime <= time }).map { UInt64($0 + 1) } ?? 0
    }

    func first(arrivedFrom time: Timestamp) -> UInt64? {
        (events.firstIndex { $0.arrivalTime >= time }).map { UInt64($0 + 1) }
    }

    /// What the log's summariser says of an event: one facet, the first byte.
    static let summariser = EventSummariser(facets: [1]) { _, payload, facts in
        if payload.byteCount > 0 { facts.insert(UInt32(unsafe payload.unsafeLoad(as: UInt8.self)), 1) }
    }
}
