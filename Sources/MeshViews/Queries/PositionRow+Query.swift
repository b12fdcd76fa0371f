import Projections
import ProtobufWire
public import ViewQuery

extension PositionRow: QueryRow {
    public static let view = "positions"
    public static let table = "positions"

    public static let columns: [RowColumn<PositionRow>] = [
        RowColumn(key: "node", \.node) { $0.node }.shown(as: .node),
        RowColumn(key: "time", \.time) { $0.time }.shown(as: .time),
        RowColumn(key: "sequence", \.sequence) { $0.sequence },
        RowColumn("timeSource", \.timeSource) { $0.timeSource },
        RowColumn("packetID", \.packetID) { $0.packetID },
        RowColumn("latitudeE7", \.latitudeE7) { $0.latitudeE7 },
        RowColumn("longitudeE7", \.longitudeE7) { $0.longitudeE7 },
        RowColumn("latitude", \.latitude) { $0.latitude }.computed(),
        RowColumn("longitude", \.longitude) { $0.longitude }.computed(),
        RowColumn("altitude", \.altitude) { $0.altitude }.shown(as: .meters),
        RowColumn("groundSpeed", \.groundSpeed) { $0.groundSpeed },
        RowColumn("groundTrack", \.groundTrack) { $0.groundTrack },
        RowColumn("satellites", \.satellites) { $0.satellites },
        RowColumn("precisionBits", \.precisionBits) { $0.precisionBits },
        RowColumn("sentTime", \.sentTime) { $0.sentTime }.shown(as: .time),
        RowColumn("fixTime", \.fixTime) { $0.fixTime }.shown(as: .time),
        RowColumn("pdop", \.pdop) { $0.pdop },
        RowColumn("hdop", \.hdop) { $0.hdop },
        RowColumn("vdop", \.vdop) { $0.vdop },
        RowColumn("gateway", \.gateway) { $0.gateway }.shown(as: .node),
        RowColumn("snr", \.snr) { $0.snr }.shown(as: .decibels),
        RowColumn("rssi", \.rssi) { $0.rssi }.shown(as: .dBm),
        RowColumn("since", \.since) { $0.since }.shown(as: .time),
    ]

    public static let indexes: [RowIndex<PositionRow>] = [.index(\.time)]

    public init?(key: RawSpan, value: RawSpan) {
        guard key.byteCount == 16 else { return nil }
        try? self.init(  // bytes that are no row are told by nil
            node: key.bigEndianUInt32(at: 0), time: key.bigEndianUInt32(at: 4), sequence: key.bigEndianUInt64(at: 8),
            decoding: value)
    }
}
