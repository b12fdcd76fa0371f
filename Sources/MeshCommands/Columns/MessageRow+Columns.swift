import MeshLedger
import Meshtastic

extension MessageRow: ShownRow {
    /// The state of a message that did not arrive, followed by the reason.
    static let failed = "failed"

    private static let states: [String] = {
        let reasons = KnownNames.enumeration("Routing.Error").all.map { "\(failed): \($0)" }
        return DeliveryState.allCases.map { "\($0)" } + reasons
    }()

    static func shown(in ledger: Ledger) throws -> [Column<MessageRow>] {
        let names = try NodeNames(ledger)
        return [
            Column(time: { $0.time }, of: { $0.timeSource }),
            Column(cases: "time_source", isDetail: true) { $0.timeSource },
            Column("channel", canCut: true) { .optional($0.channel) },
            Column("from") { PacketCell.node($0.from) },
            Column("from_name", heading: "name", canCut: true) { .optional(names[$0.from]) },
            Column("to") { PacketCell.node($0.to) },
            Column("text", isText: true) { .text($0.text) },
            Column("state", canCut: true) { row in
                let reason = FieldTable.routingErrorName(row.failureReason) ?? String(row.failureReason)
                return .text(row.state == .failed ? "\(failed): \(reason)" : "\(row.state)")
            }.named(.these(states)),
            Column("is_delivered", isDetail: true) { .bool($0.state == .delivered) },
            Column("receptions", heading: "heard") { .number($0.receptions) },
            Column("gateways", isDetail: true) { .list($0.gateways.map { .text(NodeID.text($0)) }) },
            Column("id", isDetail: true) { .number($0.id) },
            Column("port", isDetail: true) { PacketCell.port($0.port, isReadable: true) }.named(.ports),
            Column("reply_id", isDetail: true) { $0.replyID == 0 ? .null : .number($0.replyID) },
            Column("is_reaction", isDetail: true) { .bool($0.isReaction) },
            Column("via_mqtt", isDetail: true) { .bool($0.isViaMQTT) },
            Column("is_privately_encrypted", isDetail: true) { .bool($0.isPrivatelyEncrypted) },
            Column(cases: "signature", isDetail: true) { $0.signature },
            Column("sequence", isDetail: true) { .unsigned($0.sequence) },
            Column("first_sequence", isDetail: true) { .unsigned($0.firstSequence) },
            Column("is_read", isDetail: true) { .bool($0.isRead) },
            Column("archived_at", isDetail: true) { .time($0.archivedAt) },
            Column("has_conflict", isDetail: true) { .bool($0.hasConflict) },
        ]
    }
}
