import Meshtastic
import Projections
import ProtobufWire
public import ViewQuery

extension SensorRow: QueryRow, SeriesRow {
    public static let view = "sensors"
    public static let table = "sensors"

    public static let columns: [RowColumn<SensorRow>] = [
        RowColumn(key: "node", \.node) { $0.node }.shown(as: .node),
        RowColumn(key: "kind", \.kind, widths: [1], numbers: { [UInt64($0.rawValue)] }, get: { $0.kind }),
        RowColumn(key: "time", \.time) { $0.time }.shown(as: .time),
        RowColumn(key: "sequence", \.sequence) { $0.sequence },
        RowColumn("timeSource", \.timeSource) { $0.timeSource }.stored(1),
        RowColumn("packetID", \.packetID) { $0.packetID }.stored(2),
        RowColumn("to", \.to) { $0.to }.stored(3).shown(as: .node),
        RowColumn("channel", \.channel) { $0.channel }.stored(4),
        RowColumn("gateway", \.gateway) { $0.gateway }.stored(5).shown(as: .node),
        RowColumn("snr", \.snr) { $0.snr }.stored(6).shown(as: .decibels),
        RowColumn("rssi", \.rssi) { $0.rssi }.stored(7).shown(as: .dBm),
        RowColumn("hopsAway", \.hopsAway) { $0.hopsAway }.stored(8),
        RowColumn("text", \.text) { $0.text },
        RowColumn("payload", \.payload) { $0.payload }.stored(9),
    ]

    public init?(key: RawSpan, value: RawSpan) {
        guard key.byteCount == 17, let kind = SensorKind(rawValue: key.byte(at: 4)) else { return nil }
        try? self.init(  // bytes that are no row are told by nil
            node: key.bigEndianUInt32(at: 0), kind: kind, time: key.bigEndianUInt32(at: 5), sequence: key.bigEndianUInt64(at: 9),
            decoding: value)
    }
}
