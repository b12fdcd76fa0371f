import Projections
import ProtobufWire
public import ViewQuery

/// Metrics of a kind that this version does not know: a later one reads them from the log.
///
/// Key in the `unknown_telemetry` table of the telemetry view: node (4 bytes), kind (1), time (4), sequence (8), big-endian. Value: `Telemetry` of
/// `views.proto`.
public struct UnknownTelemetryRow: Sendable, Equatable {
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
        try Self.declaration.take(&self, from: value)
    }
}

extension UnknownTelemetryRow: ViewRow, DeclaredFields {
    public static let kind = "unknownTelemetry"
    public static let view = "telemetry"
    public static let table = "unknown_telemetry"

    static let declaration = RowDeclaration<UnknownTelemetryRow>([
        RowColumn(key: "node", \.node) { $0.node }.naming(.owner),
        RowColumn(key: "kind", \.kind) { $0.kind },
        RowColumn(key: "time", \.time) { $0.time }.shown(as: .time),
        RowColumn(key: "sequence", \.sequence) { $0.sequence },
        RowColumn(1, "timeSource", \.timeSource, as: .enumeration(or: .arrival)),
        RowColumn(2, "packetID", \.packetID, as: .fixed32),
        RowColumn(3, "sentTime", \.sentTime, as: .fixed32.unlessZero, .time),
        RowColumn(4, "gateway", \.gateway, as: .fixed32.unlessZero, .node),
        RowColumn(5, "metrics", \.metrics, as: .bytes),
    ])

    public static let columns = declaration.columns

    public init?(key: RawSpan, value: RawSpan) {
        guard key.byteCount == 17 else { return nil }
        try? self.init(  // nil for bytes that are not a row
            node: key.bigEndianUInt32(at: 0), kind: key.byte(at: 4), time: key.bigEndianUInt32(at: 5),
            sequence: key.bigEndianUInt64(at: 9), decoding: value)
    }
}
