import Projections
import ProtobufWire
public import ViewQuery

extension MessageRow: QueryRow {
    public static let view = "messages"
    public static let table = "messages"

    public static let columns: [RowColumn<MessageRow>] = [
        RowColumn(
            key: "thread", \.thread, widths: [1, 8], numbers: { [UInt64($0.prefix.kind), $0.prefix.value] }, get: { $0.thread }),
        RowColumn(key: "time", \.time) { $0.time }.shown(as: .time),
        RowColumn(key: "sequence", \.sequence) { $0.sequence },
        RowColumn("timeSource", \.timeSource) { $0.timeSource },
        RowColumn("firstSequence", \.firstSequence) { $0.firstSequence },
        RowColumn("from", \.from) { $0.from }.shown(as: .node),
        RowColumn("to", \.to) { $0.to }.shown(as: .node),
        RowColumn("id", \.id) { $0.id },
        RowColumn("port", \.port) { $0.port },
        RowColumn("text", \.text) { $0.text },
        RowColumn("replyID", \.replyID) { $0.replyID },
        RowColumn("isReaction", \.isReaction) { $0.isReaction },
        RowColumn("state", \.state) { $0.state },
        RowColumn("failureReason", \.failureReason) { $0.failureReason },
        RowColumn("receptions", \.receptions) { $0.receptions },
        RowColumn("gateways", \.gateways) { $0.gateways }.shown(as: .node),
        RowColumn("channel", \.channel) { $0.channel },
        RowColumn("isViaMQTT", \.isViaMQTT) { $0.isViaMQTT },
        RowColumn("isPrivatelyEncrypted", \.isPrivatelyEncrypted) { $0.isPrivatelyEncrypted },
        RowColumn("signature", \.signature) { $0.signature },
    ]

    public static let texts: [RowText<MessageRow>] = [RowText("text", \.text) { $0.text }]

    public static let indexes: [RowIndex<MessageRow>] = [
        .index(\.time), .index(\.from, \.time), .index(\.id), .index(\.replyID),
    ]

    public init?(key: RawSpan, value: RawSpan) {
        guard key.byteCount == 21 else { return nil }
        try? self.init(  // bytes that are no row are told by nil
            thread: MessageThread(kind: key.byte(at: 0), value: key.bigEndianUInt64(at: 1)), time: key.bigEndianUInt32(at: 9),
            sequence: key.bigEndianUInt64(at: 13), decoding: value)
    }
}
