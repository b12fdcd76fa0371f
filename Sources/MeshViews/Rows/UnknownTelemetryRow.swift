import ProtobufWire

/// Metrics of a kind that this version does not know: a later one reads them from the log.
///
/// Key in the `unknown_telemetry` table of the telemetry view: node (4 bytes), kind (1), time (4), sequence (8), big-endian. Value: `Telemetry` of
/// `views.proto`.
public struct UnknownTelemetryRow: Sendable, Equatable, StoredTelemetry {
    public var node: UInt32
    /// The field number of the metrics in the payload.
    public var kind: UInt8
    /// Seconds since 1970, and the clock that it came from.
    public var time: UInt32
    public var timeSource = TimeSource.arrival
    public var sequence: UInt64
    public var packetID: UInt32 = 0
    /// The sender's stamp, unchecked; 0 if missing.
    public var sentTime: UInt32 = 0
    public var gateway: UInt32 = 0
    /// The metrics' bytes.
    public var metrics: [UInt8] = []

    init(node: UInt32, kind: UInt8, time: UInt32, sequence: UInt64, decoding value: RawSpan) throws(WireError) {
        self.node = node
        self.kind = kind
        self.time = time
        self.sequence = sequence
        try decode(value)
    }
}
