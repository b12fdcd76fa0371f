/// An event to be appended. Its sequence and arrival time are the log's to give.
public struct NewEvent: Sendable {
    /// The bytes exactly as they came.
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

    /// Whether it would say, in the log's own name, that events were erased or dropped, or that the clock jumped.
    var isOfLog: Bool { encoding.isOfLog && source == .log }

    /// The largest payload that the log takes, in bytes.
    public static let largestPayload = 16 << 20
}
