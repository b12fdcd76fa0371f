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
        RowColumn(1, "longName", \.longName, as: .text).table(),
        RowColumn(2, "shortName", \.shortName, as: .text).table("Up to four characters."),
        RowColumn(3, "hardwareModel", \.hardwareModel, as: .varint.unlessZero),
        RowColumn("state", \.state) { $0.state }.computed(),
        RowColumn(20, "firstSequence", \.firstSequence, as: .varint).table(Meaning.firstSequence),
        RowColumn(21, "lastSequence", \.lastSequence, as: .varint).table("Its newest event."),
        RowColumn(4, "role", \.role, as: .varint.unlessZero),
        RowColumn(5, "isLicensed", \.isLicensed, as: .flag).table("Whether its owner is a licensed operator."),
        RowColumn(6, "isUnmessagable", \.isUnmessagable, as: .flag).table("Whether nobody reads its messages."),
        RowColumn(7, "publicKey", \.publicKey, as: .bytes.unlessEmpty),
        RowColumn(8, "hasKeyConflict", \.hasKeyConflict, as: .flag).table("Whether it announced other keys."),
        RowColumn(9, "firmware", \.firmware, as: .text).table(Meaning.firmware, as: .name),
        RowColumn(10, "firstHeard", \.firstHeard, as: .fixed32, .time).table(),
        RowColumn(11, "lastHeard", \.lastHeard, as: .fixed32, .time).table(),
        RowColumn(28, "isTimeOfImport", \.isTimeOfImport, as: .flag).table(Meaning.timeOfImport),
        RowColumn(12, "snr", \.snr, as: .float, .decibels),
        RowColumn(13, "rssi", \.rssi, as: .sint32, .dBm).table("Signal strength of the last reception."),
        RowColumn(14, "hopsAway", \.hopsAway, as: .varint).table("Hops of its last packet."),
        RowColumn(15, "isViaMQTT", \.isViaMQTT, as: .flag),
        RowColumn(16, "channel", \.channel, as: .text).table("The channel on which it introduced itself.", as: .name),
        RowColumn(17, "receptions", \.receptions, as: .varint).table("How often its packets were heard."),
        RowColumn(18, "packets", \.packets, as: .varint).table("How many packets were heard."),
        RowColumn(19, "unreadable", \.unreadable, as: .varint.unlessZero).table("How many of its packets no key opens."),
        RowColumn(22, "isFavorite", \.isFavorite, as: .flag).table(),
        RowColumn(23, "isIgnored", \.isIgnored, as: .flag).table(),
        RowColumn("isArchived", \.isArchived) { $0.isArchived }.computed().stored(24),
        RowColumn(24, "archivedAt", \.archivedAt, as: .fixed32.unlessZero, .time).table(),
        RowColumn(25, "note", \.note, as: .text).table("What a person wrote about it."),
        RowColumn(26, "alias", \.alias, as: .text).table("Its name in this ledger."),
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

    public init?(key: RawSpan, value: RawSpan) {
        guard key.byteCount == 4 else { return nil }
        self.init(number: key.bigEndianUInt32(at: 0))
        guard take(value) else { return nil }
    }
}
