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
}

extension UnknownTelemetryRow: ViewRow, DeclaredFields {
    public static let kind = "unknownTelemetry"
    public static let view = "telemetry"
    public static let table = "unknown_telemetry"

    static let declaration = RowDeclaration<UnknownTelemetryRow>([
        RowColumn(key: "node", \.node) { $0.node }.naming(.owner).table("The node that measured."),
        RowColumn(key: "kind", \.kind) { $0.kind }.table("The number of the kind in the schema."),
        RowColumn(key: "time", \.time) { $0.time }.shown(as: .time).table("When it measured."),
        RowColumn(key: "sequence", \.sequence) { $0.sequence }.table(Meaning.sequence),
        RowColumn(1, "timeSource", \.timeSource, as: .enumeration(or: .arrival)).table(Meaning.timeSource),
        RowColumn(2, "packetID", \.packetID, as: .fixed32).table(Meaning.packet),
        RowColumn(3, "sentTime", \.sentTime, as: .fixed32.unlessZero, .time).table(Meaning.sentTime),
        RowColumn(4, "gateway", \.gateway, as: .fixed32.unlessZero, .node).table(Meaning.gateway),
        RowColumn(5, "metrics", \.metrics, as: .bytes),
    ])

    public static let columns = declaration.columns

    public init?(key: RawSpan, value: RawSpan) {
        guard key.byteCount == 17 else { return nil }
        (node, kind) = (key.bigEndianUInt32(at: 0), key.byte(at: 4))
        (time, sequence) = (key.bigEndianUInt32(at: 5), key.bigEndianUInt64(at: 9))
        guard take(value) else { return nil }
    }
}
