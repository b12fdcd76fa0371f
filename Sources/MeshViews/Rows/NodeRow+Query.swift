import Projections
import ProtobufWire
public import ViewQuery

extension NodeRow: ViewRow {
    public static let kind = "node"
    public static let view = "nodes"
    public static let table = "nodes"

    public var time: UInt32 { lastHeard }
    public var sequence: UInt64 { lastSequence }

    public static let columns: [RowColumn<NodeRow>] = [
        RowColumn(key: "number", \.number) { $0.number }.shown(as: .node),
        RowColumn("longName", \.longName) { $0.longName }.stored(1),
        RowColumn("shortName", \.shortName) { $0.shortName }.stored(2),
        RowColumn("hardwareModel", \.hardwareModel) { $0.hardwareModel }.stored(3),
        RowColumn("state", \.state) { $0.state }.computed(),
        RowColumn("firstSequence", \.firstSequence) { $0.firstSequence }.stored(20),
        RowColumn("lastSequence", \.lastSequence) { $0.lastSequence }.stored(21),
        RowColumn("role", \.role) { $0.role }.stored(4),
        RowColumn("isLicensed", \.isLicensed) { $0.isLicensed }.stored(5),
        RowColumn("isUnmessagable", \.isUnmessagable) { $0.isUnmessagable }.stored(6),
        RowColumn("publicKey", \.publicKey) { $0.publicKey }.stored(7),
        RowColumn("hasKeyConflict", \.hasKeyConflict) { $0.hasKeyConflict }.stored(8),
        RowColumn("firmware", \.firmware) { $0.firmware }.stored(9),
        RowColumn("firstHeard", \.firstHeard) { $0.firstHeard }.stored(10).shown(as: .time),
        RowColumn("lastHeard", \.lastHeard) { $0.lastHeard }.stored(11).shown(as: .time),
        RowColumn("snr", \.snr) { $0.snr }.stored(12).shown(as: .decibels),
        RowColumn("rssi", \.rssi) { $0.rssi }.stored(13).shown(as: .dBm),
        RowColumn("hopsAway", \.hopsAway) { $0.hopsAway }.stored(14),
        RowColumn("isViaMQTT", \.isViaMQTT) { $0.isViaMQTT }.stored(15),
        RowColumn("channel", \.channel) { $0.channel }.stored(16),
        RowColumn("receptions", \.receptions) { $0.receptions }.stored(17),
        RowColumn("packets", \.packets) { $0.packets }.stored(18),
        RowColumn("unreadable", \.unreadable) { $0.unreadable }.stored(19),
        RowColumn("isFavorite", \.isFavorite) { $0.isFavorite }.stored(22),
        RowColumn("isIgnored", \.isIgnored) { $0.isIgnored }.stored(23),
        RowColumn("isArchived", \.isArchived) { $0.isArchived }.computed().stored(24),
        RowColumn("archivedAt", \.archivedAt) { $0.archivedAt }.stored(24).shown(as: .time),
        RowColumn("note", \.note) { $0.note }.stored(25),
        RowColumn("alias", \.alias) { $0.alias }.stored(26),
    ]

    public static let archive: RowArchive<NodeRow>? = RowArchive(table: ArchiveFlag.table) { $0.isArchived }

    public static let texts: [RowText<NodeRow>] = [
        RowText("longName", \.longName, field: 1) { $0.longName },
        RowText("shortName", \.shortName, field: 2) { $0.shortName },
    ]

    public static let indexes: [RowIndex<NodeRow>] = [
        .index(\.lastHeard), .index(\.hardwareModel), .index(\.longName), .index(\.shortName),
    ]

    public init?(key: RawSpan, value: RawSpan) {
        guard let row = Self.decode(key: key, value: value) else { return nil }
        self = row
    }
}
