/// An event to be appended. The log assigns its sequence and arrival time.
public struct NewEvent: Sendable {
    /// The bytes exactly as they were received.
    public var payload: [UInt8]
    public var encoding: PayloadEncoding
    /// Whether secrets in the payload were zeroed at equal length.
    public var isMasked: Bool
    public var source: SourceID
    public var reception: Reception

    public init(
        _ payload: [UInt8], encoding: PayloadEncoding, source: SourceID, reception: Reception = .live, isMasked: Bool = false
    ) {
        self.payload = payload
        self.encoding = encoding
        self.source = source
        self.reception = reception
        self.isMasked = isMasked
    }

    /// Whether it would record, in the log's own name, that events were erased or dropped, or that the clock jumped.
    var isOfLog: Bool { encoding.isOfLog && source == .log }

    /// The largest payload that the log accepts, in bytes.
    public static let largestPayload = 16 << 20
}
