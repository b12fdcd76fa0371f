import Projections
import ProtobufWire
public import ViewQuery

extension PositionRow: ViewRow {
    public static let kind = "position"
    public static let view = "positions"
    public static let table = "positions"

    public static let columns: [RowColumn<PositionRow>] = [
        RowColumn(key: "node", \.node) { $0.node }.shown(as: .node),
        RowColumn(key: "time", \.time) { $0.time }.shown(as: .time),
        RowColumn(key: "sequence", \.sequence) { $0.sequence },
        RowColumn("timeSource", \.timeSource) { $0.timeSource }.stored(1),
        RowColumn("packetID", \.packetID) { $0.packetID }.stored(2),
        RowColumn("latitudeE7", \.latitudeE7) { $0.latitudeE7 }.stored(3),
        RowColumn("longitudeE7", \.longitudeE7) { $0.longitudeE7 }.stored(4),
        RowColumn("latitude", \.latitude) { $0.latitude }.stored(3).computed(),
        RowColumn("longitude", \.longitude) { $0.longitude }.stored(4).computed(),
        RowColumn("altitude", \.altitude) { $0.altitude }.stored(5).shown(as: .meters),
        RowColumn("groundSpeed", \.groundSpeed) { $0.groundSpeed }.stored(6),
        RowColumn("groundTrack", \.groundTrack) { $0.groundTrack }.stored(7).shown(as: .degreesE5),
        RowColumn("satellites", \.satellites) { $0.satellites }.stored(8),
        RowColumn("precisionBits", \.precisionBits) { $0.precisionBits }.stored(9),
        RowColumn("sentTime", \.sentTime) { $0.sentTime }.stored(10).shown(as: .time),
        RowColumn("fixTime", \.fixTime) { $0.fixTime }.stored(11).shown(as: .time),
        RowColumn("pdop", \.pdop) { $0.pdop }.stored(12).shown(as: .hundredths),
        RowColumn("hdop", \.hdop) { $0.hdop }.stored(13).shown(as: .hundredths),
        RowColumn("vdop", \.vdop) { $0.vdop }.stored(14).shown(as: .hundredths),
        RowColumn("gateway", \.gateway) { $0.gateway }.stored(15).shown(as: .node),
        RowColumn("snr", \.snr) { $0.snr }.stored(16).shown(as: .decibels),
        RowColumn("rssi", \.rssi) { $0.rssi }.stored(17).shown(as: .dBm),
        RowColumn("since", \.since) { $0.since }.stored(18).shown(as: .time),
    ]

    public static let indexes: [RowIndex<PositionRow>] = [.index(\.time)]

    public init?(key: RawSpan, value: RawSpan) {
        guard key.byteCount == 16 else { return nil }
        try? self.init(  // nil for bytes that are not a row
            node: key.bigEndianUInt32(at: 0), time: key.bigEndianUInt32(at: 4), sequence: key.bigEndianUInt64(at: 8),
            decoding: value)
    }
}
