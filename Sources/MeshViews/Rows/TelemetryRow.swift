public import Meshtastic
import Projections
package import ProtobufWire
public import ViewQuery

/// One set of metrics that a node measured. The metrics are stored as received: what a later version of this code knows
/// about them can be read from old rows, and an absent metric is never a zero.
///
/// Key in the `telemetry` table: node (4 bytes), kind (1), time (4), sequence (8), big-endian. Value: `Telemetry` of
/// `views.proto`.
public struct TelemetryRow: Sendable, Equatable {
    public var node: UInt32
    public var kind: TelemetryKind
    /// Seconds since 1970, and the clock that it came from.
    public var time: UInt32
    public var timeSource = TimeSource.arrival
    public var sequence: UInt64
    public var packetID: UInt32 = 0
    /// The sender's stamp, unchecked; 0 if missing.
    public var sentTime: UInt32 = 0
    public var gateway: UInt32 = 0
    /// The metrics message of the kind, byte for byte.
    public var metrics: [UInt8] = []

    package init(
        node: UInt32, kind: TelemetryKind, time: UInt32, sequence: UInt64, decoding value: RawSpan
    ) throws(WireError) {
        self.node = node
        self.kind = kind
        self.time = time
        self.sequence = sequence
        try Self.declaration.take(&self, from: value)
    }
}

extension TelemetryRow: ViewRow, DeclaredFields {
    public static let kind = "telemetry"
    public static let view = "telemetry"
    public static let table = "telemetry"

    static let declaration = RowDeclaration<TelemetryRow>([
        RowColumn(key: "node", \.node) { $0.node }.naming(.owner).table("The node that measured."),
        RowColumn(key: "kind", \.kind, widths: [1], numbers: { [UInt64($0.rawValue)] }, get: { $0.kind }).table(
            "The kind of the metrics."),
        RowColumn(key: "time", \.time) { $0.time }.shown(as: .time).table("When it measured."),
        RowColumn(key: "sequence", \.sequence) { $0.sequence }.table(Meaning.sequence),
        RowColumn(1, "timeSource", \.timeSource, as: .enumeration(or: .arrival)).table(Meaning.timeSource),
        RowColumn(2, "packetID", \.packetID, as: .fixed32).table(Meaning.packet),
        RowColumn(3, "sentTime", \.sentTime, as: .fixed32.unlessZero, .time).table(Meaning.sentTime),
        RowColumn(4, "gateway", \.gateway, as: .fixed32.unlessZero, .node).table(Meaning.gateway),
        RowColumn(5, "metrics", \.metrics, as: .bytes),
    ])

    public static let columns = declaration.columns

    public static let indexes: [RowIndex<TelemetryRow>] = [.index(\.kind, \.time)]

    public init?(key: RawSpan, value: RawSpan) {
        guard key.byteCount == 17, let kind = TelemetryKind(rawValue: key.byte(at: 4)) else { return nil }
        try? self.init(  // nil for bytes that are not a row
            node: key.bigEndianUInt32(at: 0), kind: kind, time: key.bigEndianUInt32(at: 5), sequence: key.bigEndianUInt64(at: 9),
            decoding: value)
    }
}
