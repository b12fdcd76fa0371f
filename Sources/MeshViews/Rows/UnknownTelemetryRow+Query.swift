import Projections
import ProtobufWire
public import ViewQuery

extension UnknownTelemetryRow: ViewRow {
    public static let kind = "unknownTelemetry"
    public static let view = "telemetry"
    public static let table = "unknown_telemetry"

    public static let columns: [RowColumn<UnknownTelemetryRow>] = [
        RowColumn(key: "node", \.node) { $0.node }.shown(as: .node),
        RowColumn(key: "kind", \.kind) { $0.kind },
        RowColumn(key: "time", \.time) { $0.time }.shown(as: .time),
        RowColumn(key: "sequence", \.sequence) { $0.sequence },
        RowColumn("timeSource", \.timeSource) { $0.timeSource }.stored(1),
        RowColumn("packetID", \.packetID) { $0.packetID }.stored(2),
        RowColumn("sentTime", \.sentTime) { $0.sentTime }.stored(3).shown(as: .time),
        RowColumn("gateway", \.gateway) { $0.gateway }.stored(4).shown(as: .node),
        RowColumn("metrics", \.metrics) { $0.metrics }.stored(5),
    ]

    public init?(key: RawSpan, value: RawSpan) {
        guard key.byteCount == 17 else { return nil }
        try? self.init(  // nil for bytes that are not a row
            node: key.bigEndianUInt32(at: 0), kind: key.byte(at: 4), time: key.bigEndianUInt32(at: 5),
            sequence: key.bigEndianUInt64(at: 9), decoding: value)
    }
}
