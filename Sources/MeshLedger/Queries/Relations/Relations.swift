import MeshViews
import Meshtastic
import ViewQuery

extension NodeRow: RelatedRow {
    public static let positions = Relation<NodeRow, PositionRow>("positions", from: { $0.number }, to: \.node, time: \.time)
    public static let telemetry = Relation<NodeRow, TelemetryRow>("telemetry", from: { $0.number }, to: \.node, time: \.time)
    /// The messages that it sent, and those sent to it alone.
    public static let sentMessages = Relation<NodeRow, MessageRow>("sentMessages", from: { $0.number }, to: \.from, time: \.time)
    public static let receivedMessages = Relation<NodeRow, MessageRow>(
        "receivedMessages", from: { $0.number == NodeID.broadcast ? nil : $0.number }, to: \.to, time: \.time)

    public static let relations: [RelationList<NodeRow>] = [
        RelationList(positions), RelationList(telemetry), RelationList(sentMessages), RelationList(receivedMessages),
    ]
    public static let fragment = ["longName", "shortName"]
}

extension PositionRow: RelatedRow {
    /// The node that was there.
    public static let reporter = Relation<PositionRow, NodeRow>(
        "reporter", isToOne: true, from: { $0.node }, to: \.number, time: \.lastHeard)

    public static let relations: [RelationList<PositionRow>] = [
        RelationList(reporter), .receptions { ($0.node, $0.packetID, $0.sequence) },
    ]
    public static let fragment = ["latitude", "longitude"]
}

extension TelemetryRow: RelatedRow {
    /// The node that measured.
    public static let reporter = Relation<TelemetryRow, NodeRow>(
        "reporter", isToOne: true, from: { $0.node }, to: \.number, time: \.lastHeard)

    public static let relations: [RelationList<TelemetryRow>] = [
        RelationList(reporter), .receptions { ($0.node, $0.packetID, $0.sequence) },
    ]
    public static let fragment: [String] = []
}

extension MessageRow: RelatedRow {
    public static let sender = Relation<MessageRow, NodeRow>(
        "sender", isToOne: true, from: { $0.from }, to: \.number, time: \.lastHeard)
    /// The messages and tapbacks of its thread that reply to it. Packet ids recur, so replies may be to another message of the same id.
    public static let replies = Relation<MessageRow, MessageRow>(
        "replies", from: { $0.id == 0 ? nil : $0.id }, to: \.replyID, time: \.time, where: { $0.thread == $1.thread })
    /// The messages of its thread that it replies to.
    public static let answered = Relation<MessageRow, MessageRow>(
        "answered", from: { $0.replyID == 0 ? nil : $0.replyID }, to: \.id, time: \.time, where: { $0.thread == $1.thread })

    public static let relations: [RelationList<MessageRow>] = [
        RelationList(sender), RelationList(replies), RelationList(answered),
        .receptions { ($0.from, $0.id, $0.firstSequence) },
    ]
    public static let fragment = ["text", "from"]
}
