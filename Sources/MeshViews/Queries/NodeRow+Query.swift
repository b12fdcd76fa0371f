import Projections
import ProtobufWire
public import ViewQuery

extension NodeRow: QueryRow {
    public static let view = "nodes"
    public static let table = "nodes"

    public static let columns: [RowColumn<NodeRow>] = [
        RowColumn(key: "number", \.number) { $0.number }.shown(as: .node),
        RowColumn("longName", \.longName) { $0.longName },
        RowColumn("shortName", \.shortName) { $0.shortName },
        RowColumn("hardwareModel", \.hardwareModel) { $0.hardwareModel },
        RowColumn("state", \.state) { $0.state }.computed(),
        RowColumn("firstSequence", \.firstSequence) { $0.firstSequence },
        RowColumn("lastSequence", \.lastSequence) { $0.lastSequence },
        RowColumn("role", \.role) { $0.role },
        RowColumn("isLicensed", \.isLicensed) { $0.isLicensed },
        RowColumn("isUnmessagable", \.isUnmessagable) { $0.isUnmessagable },
        RowColumn("publicKey", \.publicKey) { $0.publicKey },
        RowColumn("hasKeyConflict", \.hasKeyConflict) { $0.hasKeyConflict },
        RowColumn("firmware", \.firmware) { $0.firmware },
        RowColumn("firstHeard", \.firstHeard) { $0.firstHeard }.shown(as: .time),
        RowColumn("lastHeard", \.lastHeard) { $0.lastHeard }.shown(as: .time),
        RowColumn("snr", \.snr) { $0.snr }.shown(as: .decibels),
        RowColumn("rssi", \.rssi) { $0.rssi }.shown(as: .dBm),
        RowColumn("hopsAway", \.hopsAway) { $0.hopsAway },
        RowColumn("isViaMQTT", \.isViaMQTT) { $0.isViaMQTT },
        RowColumn("channel", \.channel) { $0.channel },
        RowColumn("receptions", \.receptions) { $0.receptions },
        RowColumn("packets", \.packets) { $0.packets },
        RowColumn("unreadable", \.unreadable) { $0.unreadable },
    ]

    public static let texts: [RowText<NodeRow>] = [RowText("longName", \.longName) { $0.longName }]

    public static let indexes: [RowIndex<NodeRow>] = [
        .index(\.lastHeard), .index(\.hardwareModel), .index(\.longName), .index(\.shortName),
    ]

    public init?(key: RawSpan, value: RawSpan) {
        guard let row = Self.decode(key: key, value: value) else { return nil }
        self = row
    }
}
