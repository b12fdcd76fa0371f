import Projections
import ProtobufWire
public import ViewQuery

extension MessageRow: ViewRow {
    public static let kind = "message"
    public static let view = "messages"
    public static let table = "messages"

    public static let columns: [RowColumn<MessageRow>] = [
        RowColumn(
            key: "thread", \.thread, widths: [1, 8], numbers: { [UInt64($0.prefix.kind), $0.prefix.value] }, get: { $0.thread }),
        RowColumn(key: "time", \.time) { $0.time }.shown(as: .time),
        RowColumn(key: "sequence", \.sequence) { $0.sequence },
        RowColumn("timeSource", \.timeSource) { $0.timeSource }.stored(1),
        RowColumn("firstSequence", \.firstSequence) { $0.firstSequence }.stored(2),
        RowColumn("from", \.from) { $0.from }.stored(3).shown(as: .node),
        RowColumn("to", \.to) { $0.to }.stored(4).shown(as: .node),
        RowColumn("id", \.id) { $0.id }.stored(5),
        RowColumn("port", \.port) { $0.port }.stored(6),
        RowColumn("text", \.text) { $0.text }.stored(7),
        RowColumn("replyID", \.replyID) { $0.replyID }.stored(8),
        RowColumn("isReaction", \.isReaction) { $0.isReaction }.stored(9),
        RowColumn("state", \.state) { $0.state }.stored(10),
        RowColumn("failureReason", \.failureReason) { $0.failureReason }.stored(11),
        RowColumn("receptions", \.receptions) { $0.receptions }.stored(12),
        RowColumn("gateways", \.gateways) { $0.gateways }.stored(13).shown(as: .node),
        RowColumn("channel", \.channel) { $0.channel }.stored(14),
        RowColumn("isViaMQTT", \.isViaMQTT) { $0.isViaMQTT }.stored(15),
        RowColumn("isPrivatelyEncrypted", \.isPrivatelyEncrypted) { $0.isPrivatelyEncrypted }.stored(16),
        RowColumn("signature", \.signature) { $0.signature }.stored(17),
        RowColumn("isRead", \.isRead) { $0.isRead }.stored(18),
        RowColumn("isArchived", \.isArchived) { $0.isArchived }.computed().stored(19),
        RowColumn("archivedAt", \.archivedAt) { $0.archivedAt }.stored(19).shown(as: .time),
        RowColumn("hasConflict", \.hasConflict) { $0.hasConflict }.stored(21),
    ]

    public static let archive: RowArchive<MessageRow>? = RowArchive(table: ArchiveFlag.table) { $0.isArchived }

    public static let texts: [RowText<MessageRow>] = [RowText("text", \.text, field: 7, hasParts: true) { $0.text }]

    public static let indexes: [RowIndex<MessageRow>] = [
        .index(\.time), .index(\.from, \.time), .index(\.id), .index(\.replyID),
    ]

    public init?(key: RawSpan, value: RawSpan) {
        guard key.byteCount == 21 else { return nil }
        try? self.init(  // nil for bytes that are not a row
            thread: MessageThread(kind: key.byte(at: 0), value: key.bigEndianUInt64(at: 1)), time: key.bigEndianUInt32(at: 9),
            sequence: key.bigEndianUInt64(at: 13), decoding: value)
    }
}
