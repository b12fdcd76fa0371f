import EventLog

/// All that the log must say of an event.
struct ModelEvent: Sendable, Equatable {
    let sequence: UInt64
    let arrivalTime: Timestamp
    let reception: Reception
    let source: SourceID
    let encoding: PayloadEncoding
    let isMasked: Bool
    private(set) var isErased: Bool
    private(set) var payload: [UInt8]

    init(_ event: NewEvent, sequence: UInt64, arrivalTime: Timestamp) {
        self.sequence = sequence
        self.arrivalTime = arrivalTime
        reception = event.reception
        source = event.source
        encoding = event.encoding
        isMasked = event.isMasked
        isErased = false
        payload = event.payload
    }

    init(_ header: EventHeader, _ payload: [UInt8]) {
        sequence = header.sequence.rawValue
        arrivalTime = header.arrivalTime
        reception = header.reception
        source = header.source
        encoding = header.encoding
        isMasked = header.isMasked
        isErased = header.isErased
        self.payload = payload
    }

    /// The event without its payload.
    var erased: ModelEvent {
        var erased = self
        erased.isErased = true
        erased.payload = []
        return erased
    }

    init(_ event: Event) { self.init(event.header, event.payload) }
}
