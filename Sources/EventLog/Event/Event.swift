/// Everything that the log knows about an event besides its payload.
public struct EventHeader: Sendable, Hashable {
    public let sequence: EventSequence
    /// The log's clock when the event came in.
    public let arrivalTime: Timestamp
    public let reception: Reception
    public let source: SourceID
    public let encoding: PayloadEncoding
    /// Whether secrets in the payload were zeroed at equal length.
    public let isMasked: Bool
    /// Whether the payload was erased for good; it is then empty.
    public let isErased: Bool
    public let payloadLength: Int

    /// When the event was received: the recorded time, the arrival time of a live event, or nil if it is unknown.
    public var receptionTime: Timestamp? {
        switch reception {
        case .live: arrivalTime
        case .recorded(let time): time
        case .unrecorded: nil
        }
    }
}

/// One event of the log, copied out of it.
public struct Event: Sendable, Hashable {
    public let header: EventHeader
    public let payload: [UInt8]

    public var sequence: EventSequence { header.sequence }

    public init(header: EventHeader, payload: [UInt8]) {
        self.header = header
        self.payload = payload
    }
}
