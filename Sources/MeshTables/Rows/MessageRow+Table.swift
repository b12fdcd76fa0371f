public import MeshLedger

extension MessageRow: TableRow {
    public static func tableColumns(_ context: TableContext) -> [TableColumn<MessageRow>] {
        let names = context.nodeNames
        return [
            TableColumn("time", .time { $0.time }, of: \.time, meaning: "When it was sent."),
            TableColumn("time_source", .enumeration { $0.timeSource }, of: \.timeSource, meaning: timeSourceMeaning),
            TableColumn("channel", .nameOrNone { $0.channel }, of: \.channel, meaning: channelMeaning),
            TableColumn("from", .addressee { $0.from }, of: \.from, meaning: "The sender's id."),
            TableColumn(
                "from_name", .code({ $0.from }, name: { names[$0] }), from: \.from, isContextual: true,
                meaning: "The sender's present name."),
            TableColumn("to", .addressee { $0.to }, of: \.to, meaning: "The id of the addressee; ^all for everyone."),
            TableColumn("text", .text { $0.text }, of: \.text),
            TableColumn(
                "state", .name { $0.stateText }.named(.these(stateNames)), from: \.state, \.failureReason,
                meaning: "How far its delivery is known."),
            TableColumn(
                "is_delivered", .number { $0.state == .delivered }, from: \.state,
                meaning: "Whether the addressee acknowledged it."),
            TableColumn("receptions", .number { $0.receptions }, of: \.receptions, meaning: "How often it was heard."),
            TableColumn(
                "gateways", .texts { $0.gateways.map { NodeID.text($0) } }, of: \.gateways, meaning: "Those that heard it."),
            TableColumn("id", .number { $0.id }, of: \.id, meaning: packetMeaning),
            TableColumn(
                "port", .name { FieldTable.portText($0.port, isReadable: true) }.named(.ports), from: \.port,
                meaning: "What it is about."),
            TableColumn("reply_id", .positive { $0.replyID }, of: \.replyID, meaning: "The id of the message that it answers."),
            TableColumn(
                "is_reaction", .number { $0.isReaction }, of: \.isReaction,
                meaning: "Whether it is an emoji about another message."),
            TableColumn("via_mqtt", .number { $0.isViaMQTT }, from: \.isViaMQTT, meaning: "Whether it came over the internet."),
            TableColumn(
                "is_privately_encrypted", .number { $0.isPrivatelyEncrypted }, of: \.isPrivatelyEncrypted,
                meaning: "Whether it was encrypted for one node."),
            TableColumn("signature", .enumeration { $0.signature }, of: \.signature, meaning: "Whether its signature is valid."),
            TableColumn("sequence", .number { $0.sequence }, of: \.sequence, meaning: sequenceMeaning),
            TableColumn("first_sequence", .number { $0.firstSequence }, of: \.firstSequence, meaning: firstSequenceMeaning),
            TableColumn("is_read", .number { $0.isRead }, of: \.isRead),
            TableColumn("archived_at", .time { $0.archivedAt }, of: \.archivedAt),
            TableColumn(
                "has_conflict", .number { $0.hasConflict }, of: \.hasConflict,
                meaning: "Whether another message has the same sender, id and hour."),
        ] + olderRecipe(context) { $0.sequence }
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
        return [
            TableColumn("id", .number { $0.id }, of: \.id),
            TableColumn(
                "state", .name { $0.state(at: now).rawValue }.named(.these(State.allCases.map(\.rawValue))), isContextual: true,
                meaning: "Whether it is on the map now."),
            TableColumn("name", .textOrNone { $0.name }, of: \.name),
            TableColumn("details", .textOrNone { $0.details }, of: \.details),
            TableColumn("icon", .positive { $0.icon }, of: \.icon, meaning: "The code of an emoji."),
            TableColumn(
                "latitude", .optional { $0.latitude }, of: \.latitude, unit: "°", meaning: "North of the equator, WGS 84."),
            TableColumn(
                "longitude", .optional { $0.longitude }, of: \.longitude, unit: "°", meaning: "East of Greenwich, WGS 84."),
            TableColumn("expire", .time { $0.expire }, of: \.expire, meaning: "When it leaves the map."),
            TableColumn("locked_to", .nodeOrNone { $0.lockedTo }, of: \.lockedTo, meaning: "The only node that may change it."),
            TableColumn("creator", .node { $0.creator }, of: \.creator, meaning: "The node that made it."),
            TableColumn("from", .addressee { $0.from }, of: \.from, meaning: "The node that changed it last."),
            TableColumn("time", .time { $0.time }, of: \.time, meaning: "When it was changed last."),
            TableColumn("time_source", .enumeration { $0.timeSource }, of: \.timeSource, meaning: timeSourceMeaning),
            TableColumn("to", .addressee { $0.to }, of: \.to, meaning: "The id of the addressee; ^all for everyone."),
            TableColumn("channel", .nameOrNone { $0.channel }, of: \.channel, meaning: channelMeaning),
            TableColumn("gateway", .nodeOrNone { $0.gateway }, of: \.gateway, meaning: "Of the first readable reception."),
            TableColumn("geofence_radius", .positive { $0.geofenceRadius }, of: \.geofenceRadius, unit: "m"),
            TableColumn(
                "bounding_box", .json { $0.boundingBox?.cell ?? .null }, of: \.boundingBox, unit: "°", meaning: "Its edges."),
            TableColumn("notifies_on_enter", .number { $0.notifiesOnEnter }, of: \.notifiesOnEnter),
            TableColumn("notifies_on_exit", .number { $0.notifiesOnExit }, of: \.notifiesOnExit),
            TableColumn("notifies_favorites_only", .number { $0.notifiesFavoritesOnly }, of: \.notifiesFavoritesOnly),
            TableColumn("changes", .number { $0.changes }, of: \.changes, meaning: "How often it was changed."),
            TableColumn(
                "refused_changes", .number { $0.refusedChanges }, of: \.refusedChanges,
                meaning: "How many changes were refused, for it was locked."),
            TableColumn("packet_id", .number { $0.packetID }, of: \.packetID, meaning: packetMeaning),
            TableColumn("first_sequence", .number { $0.firstSequence }, of: \.firstSequence, meaning: firstSequenceMeaning),
            TableColumn("sequence", .number { $0.sequence }, of: \.sequence, meaning: sequenceMeaning),
        ] + olderRecipe(context) { $0.sequence }
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
        [
            TableColumn("time", .time { $0.time }, of: \.time, meaning: "When it was requested."),
            TableColumn("from", .addressee { $0.from }, of: \.from, meaning: "The node that asked."),
            TableColumn("to", .addressee { $0.to }, of: \.to, meaning: "The node that was to answer."),
            TableColumn("is_answered", .number { $0.isAnswered }, of: \.isAnswered),
            TableColumn(
                "hops", .optional { $0.isAnswered ? UInt32(clamping: $0.route.count) : nil }, from: \.isAnswered, \.route,
                meaning: "Nodes between both."),
            TableColumn("towards", .json { $0.cell($0.towards) }, meaning: "The hops there, with strengths and places."),
            TableColumn("back", .json { $0.cell($0.back) }, meaning: "The hops back, with strengths and places."),
            TableColumn("id", .number { $0.id }, of: \.id, meaning: packetMeaning),
            TableColumn("time_source", .enumeration { $0.timeSource }, of: \.timeSource, meaning: timeSourceMeaning),
            TableColumn(
                "reply_id", .optional { $0.isAnswered ? $0.replyID : nil }, of: \.replyID, \.isAnswered,
                meaning: "The id of the answer."),
            TableColumn("reply_time", .time { $0.replyTime }, of: \.replyTime, meaning: "When the answer was heard."),
            TableColumn("channel", .nameOrNone { $0.channel }, of: \.channel, meaning: channelMeaning),
            TableColumn(
                "request_sequence", .optional { $0.requestSequence == 0 ? nil : $0.requestSequence }, of: \.requestSequence,
                meaning: "The event of the request."),
            TableColumn(
                "reply_sequence", .optional { $0.replySequence == 0 ? nil : $0.replySequence }, of: \.replySequence,
                meaning: "The event of the answer."),
            TableColumn("first_sequence", .number { $0.firstSequence }, of: \.firstSequence, meaning: firstSequenceMeaning),
            TableColumn("sequence", .number { $0.sequence }, of: \.sequence, meaning: sequenceMeaning),
        ] + olderRecipe(context) { $0.sequence }
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
