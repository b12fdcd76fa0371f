import Projections
import ProtobufWire
public import ViewQuery

extension NodeRow: ViewRow, DeclaredFields {
    public static let kind = "node"
    public static let view = "nodes"
    public static let table = "nodes"

    public var time: UInt32 { lastHeard }
    public var sequence: UInt64 { lastSequence }

    static let declaration = RowDeclaration<NodeRow>([
        RowColumn(key: "number", \.number) { $0.number }.naming(.owner),
        RowColumn(1, "longName", \.longName, as: .text),
        RowColumn(2, "shortName", \.shortName, as: .text),
        RowColumn(3, "hardwareModel", \.hardwareModel, as: .varint.unlessZero),
        RowColumn("state", \.state) { $0.state }.computed(),
        RowColumn(20, "firstSequence", \.firstSequence, as: .varint),
        RowColumn(21, "lastSequence", \.lastSequence, as: .varint),
        RowColumn(4, "role", \.role, as: .varint.unlessZero),
        RowColumn(5, "isLicensed", \.isLicensed, as: .flag),
        RowColumn(6, "isUnmessagable", \.isUnmessagable, as: .flag),
        RowColumn(7, "publicKey", \.publicKey, as: .bytes.unlessEmpty),
        RowColumn(8, "hasKeyConflict", \.hasKeyConflict, as: .flag),
        RowColumn(9, "firmware", \.firmware, as: .text),
        RowColumn(10, "firstHeard", \.firstHeard, as: .fixed32, .time),
        RowColumn(11, "lastHeard", \.lastHeard, as: .fixed32, .time),
        RowColumn(28, "isTimeOfImport", \.isTimeOfImport, as: .flag),
        RowColumn(12, "snr", \.snr, as: .float, .decibels),
        RowColumn(13, "rssi", \.rssi, as: .sint32, .dBm),
        RowColumn(14, "hopsAway", \.hopsAway, as: .varint),
        RowColumn(15, "isViaMQTT", \.isViaMQTT, as: .flag),
        RowColumn(16, "channel", \.channel, as: .text),
        RowColumn(17, "receptions", \.receptions, as: .varint),
        RowColumn(18, "packets", \.packets, as: .varint),
        RowColumn(19, "unreadable", \.unreadable, as: .varint.unlessZero),
        RowColumn(22, "isFavorite", \.isFavorite, as: .flag),
        RowColumn(23, "isIgnored", \.isIgnored, as: .flag),
        RowColumn("isArchived", \.isArchived) { $0.isArchived }.computed().stored(24),
        RowColumn(24, "archivedAt", \.archivedAt, as: .fixed32.unlessZero, .time),
        RowColumn(25, "note", \.note, as: .text),
        RowColumn(26, "alias", \.alias, as: .text),
        RowColumn(hidden: 27, "times", \.times, as: .nodeTimes),
    ])

    public static let columns = declaration.columns

    public static let archive: RowArchive<NodeRow>? = RowArchive(table: ArchiveFlag.table) { $0.isArchived }

    public static let texts: [RowText<NodeRow>] = [
        RowText("longName", \.longName, field: 1) { $0.longName },
        RowText("shortName", \.shortName, field: 2) { $0.shortName },
    ]

    public static let indexes: [RowIndex<NodeRow>] = [
        .index(\.lastHeard), .index(\.hardwareModel), .index(\.longName), .index(\.shortName),
    ]

    init(number: UInt32, decoding value: RawSpan) throws(WireError) {
        self.init(number: number)
        try Self.declaration.take(&self, from: value)
    }

    public init?(key: RawSpan, value: RawSpan) {
        guard let row = Self.decode(key: key, value: value) else { return nil }
        self = row
    }
}
