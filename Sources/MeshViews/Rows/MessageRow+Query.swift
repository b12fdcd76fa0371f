import Projections
package import ProtobufWire
public import ViewQuery

extension MessageRow: ViewRow, DeclaredFields {
    public static let kind = "message"
    public static let view = "messages"
    public static let table = "messages"

    /// Numbers of the fields that `StoredMessage` reads without the others.
    enum Stored {
        static let firstSequence: UInt32 = 2
        static let from: UInt32 = 3
        static let id: UInt32 = 5
    }

    static let declaration = RowDeclaration<MessageRow>([
        RowColumn(
            key: "thread", \.thread, widths: [1, 8], numbers: { [UInt64($0.prefix.kind), $0.prefix.value] }, get: { $0.thread }),
        RowColumn(key: "time", \.time) { $0.time }.shown(as: .time).table("When it was sent."),
        RowColumn(key: "sequence", \.sequence) { $0.sequence }.table(Meaning.sequence),
        RowColumn(1, "timeSource", \.timeSource, as: .enumeration(or: .arrival)).table(Meaning.timeSource),
        RowColumn(Stored.firstSequence, "firstSequence", \.firstSequence, as: .varint).table(Meaning.firstSequence),
        RowColumn(Stored.from, "from", \.from, as: .fixed32).naming(.owner).table("The sender's id.", as: .addressee),
        RowColumn(4, "to", \.to, as: .fixed32).naming(.mention).table(Meaning.addressee, as: .addressee),
        RowColumn(Stored.id, "id", \.id, as: .fixed32).table(Meaning.packet),
        RowColumn(6, "port", \.port, as: .varint),
        RowColumn(7, "text", \.text, as: .string).table(),
        RowColumn(8, "replyID", \.replyID, as: .fixed32.unlessZero).table(
            "The id of the message that it answers.", as: .unlessZero),
        RowColumn(9, "isReaction", \.isReaction, as: .flag).table("Whether it is an emoji about another message."),
        RowColumn(10, "state", \.state, as: .enumeration(or: .sent)),
        RowColumn(11, "failureReason", \.failureReason, as: .varint.unlessZero),
        RowColumn(12, "receptions", \.receptions, as: .varint).table("How often it was heard."),
        RowColumn(13, "gateways", \.gateways, as: .repeatedFixed32, .node).table("Those that heard it."),
        RowColumn(14, "channel", \.channel, as: .text).table(Meaning.channel, as: .name),
        RowColumn(15, "isViaMQTT", \.isViaMQTT, as: .flag),
        RowColumn(16, "isPrivatelyEncrypted", \.isPrivatelyEncrypted, as: .flag).table("Whether it was encrypted for one node."),
        RowColumn(17, "signature", \.signature, as: .enumeration(or: .none).unlessZero).table("Whether its signature is valid."),
        RowColumn(18, "isRead", \.isRead, as: .flag).table(),
        RowColumn("isArchived", \.isArchived) { $0.isArchived }.computed().stored(19),
        RowColumn(19, "archivedAt", \.archivedAt, as: .fixed32.unlessZero, .time).table(),
        RowColumn(21, "hasConflict", \.hasConflict, as: .flag).table("Whether another message has the same sender, id and hour."),
        RowColumn(hidden: 20, "gatewayTimes", \.gatewayTimes, as: .packedFixed32.unlessEmpty),
    ])

    public static let columns = declaration.columns

    public static let archive: RowArchive<MessageRow>? = RowArchive(table: ArchiveFlag.table) { $0.isArchived }

    public static let texts: [RowText<MessageRow>] = [RowText("text", \.text, field: 7, hasParts: true) { $0.text }]

    public static let indexes: [RowIndex<MessageRow>] = [
        .index(\.time), .index(\.from, \.time), .index(\.id), .index(\.replyID),
    ]

    package init(thread: MessageThread, time: UInt32, sequence: UInt64, decoding value: RawSpan) throws(WireError) {
        self.init(thread: thread, time: time, sequence: sequence)
        try Self.declaration.take(&self, from: value)
    }

    public init?(key: RawSpan, value: RawSpan) {
        guard key.byteCount == Self.keySize else { return nil }
        try? self.init(  // nil for bytes that are not a row
            thread: MessageThread(kind: key.byte(at: 0), value: key.bigEndianUInt64(at: 1)), time: key.bigEndianUInt32(at: 9),
            sequence: key.bigEndianUInt64(at: 13), decoding: value)
    }
}
