public import MeshLedger

extension MessageRow: TableRow {
    public static func tableColumns(_ context: TableContext) -> [TableColumn<MessageRow>] {
        let names = context.nodeNames
        return tableColumns(
            first: """
                time time_source channel from from_name to text state is_delivered receptions gateways id port reply_id \
                is_reaction via_mqtt is_privately_encrypted signature sequence first_sequence
                """,
            and: [
                TableColumn(
                    "from_name", .code({ $0.from }, name: { names[$0] }), from: \.from, isContextual: true,
                    meaning: "The sender's present name."),
                TableColumn(
                    "state", .name { $0.stateText }.named(.these(stateNames)), from: \.state, \.failureReason,
                    meaning: "How far its delivery is known."),
                TableColumn(
                    "is_delivered", .number { $0.state == .delivered }, from: \.state,
                    meaning: "Whether the addressee acknowledged it."),
                TableColumn(
                    "port", .name { FieldTable.portText($0.port, isReadable: true) }.named(.ports), from: \.port,
                    meaning: "What it is about."),
                TableColumn(
                    "via_mqtt", .number { $0.isViaMQTT }, from: \.isViaMQTT, meaning: "Whether it came over the internet."),
            ]) + olderRecipe(context) { $0.sequence }
    }

    /// The state of a message that did not arrive, followed by the reason.
    package static let failed = "failed"

    private static let stateNames: [String] = {
        let reasons = KnownNames.enumeration("Routing.Error").all.map { "\(failed): \($0)" }
        return DeliveryState.allCases.map { "\($0)" } + reasons
    }()

    private var stateText: String {
        switch state {
        case .sent: "sent"
        case .failed: "\(Self.failed): \(FieldTable.routingErrorName(failureReason) ?? String(failureReason))"
        case .implicitlyAcknowledged: "implicitlyAcknowledged"
        case .delivered: "delivered"
        }
    }
}
