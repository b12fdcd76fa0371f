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

extension WaypointRow: TableRow {
    public static func tableColumns(_ context: TableContext) -> [TableColumn<WaypointRow>] {
        let now = context.now
        return tableColumns(
            first: """
                id state name details icon latitude longitude expire locked_to creator from time time_source to channel gateway \
                geofence_radius bounding_box
                """, last: "packet_id first_sequence sequence",
            and: [
                TableColumn(
                    "state", .name { $0.state(at: now).rawValue }.named(.these(State.allCases.map(\.rawValue))),
                    isContextual: true, meaning: "Whether it is on the map now."),
                TableColumn("latitude", .optional { $0.latitude }, of: \.latitude, unit: "°", meaning: Meaning.latitude),
                TableColumn("longitude", .optional { $0.longitude }, of: \.longitude, unit: "°", meaning: Meaning.longitude),
                TableColumn(
                    "bounding_box", .json { $0.boundingBox?.cell ?? .null }, of: \.boundingBox, unit: "°",
                    meaning: "Its edges."),
            ]) + olderRecipe(context) { $0.sequence }
    }
}

extension Waypoint.BoundingBox {
    fileprivate var cell: CellValue {
        let edges = [("west", westE7), ("south", southE7), ("east", eastE7), ("north", northE7)]
        return .object(edges.map { CellMember(name: $0.0, value: .double(Double($0.1) / 1e7)) })
    }
}

extension TraceRouteRow: TableRow {
    public static func tableColumns(_ context: TableContext) -> [TableColumn<TraceRouteRow>] {
        tableColumns(
            first: "time from to is_answered hops towards back id time_source reply_id reply_time channel",
            last: "first_sequence sequence",
            and: [
                TableColumn("is_answered", .number { $0.isAnswered }, of: \.isAnswered),
                TableColumn(
                    "hops", .optional { $0.isAnswered ? UInt32(clamping: $0.route.count) : nil }, from: \.isAnswered, \.route,
                    meaning: "Nodes between both."),
                TableColumn("towards", .json { $0.cell($0.towards) }, meaning: "The hops there, with strengths and places."),
                TableColumn("back", .json { $0.cell($0.back) }, meaning: "The hops back, with strengths and places."),
                TableColumn(
                    "reply_id", .optional { $0.isAnswered ? $0.replyID : nil }, of: \.replyID, \.isAnswered,
                    meaning: "The id of the answer."),
            ]) + olderRecipe(context) { $0.sequence }
    }

    /// Each hop with its place at that time.
    private func cell(_ hops: [Hop]) -> CellValue {
        .list(
            hops.map { hop in
                let place = place(of: hop.node)
                return .object([
                    CellMember(name: "node", value: hop.node.map { .text(NodeID.text($0)) } ?? .null),
                    CellMember(name: "snr", value: .float(hop.snr)),
                    CellMember(name: "latitude", value: .optional(place?.latitude)),
                    CellMember(name: "longitude", value: .optional(place?.longitude)),
                    CellMember(name: "place_time", value: .time(place?.time ?? 0)),
                ])
            })
    }
}
