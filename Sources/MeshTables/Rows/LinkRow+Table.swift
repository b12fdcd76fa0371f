public import MeshLedger
import ProtobufWire

extension LinkRow: TableRow {
    public static func tableColumns(_ context: TableContext) -> [TableColumn<LinkRow>] {
        [
            TableColumn("hearer", .node { $0.hearer }, meaning: "The node that hears."),
            TableColumn("heard", .node { $0.heard }, meaning: "The node that is heard."),
            TableColumn("snr", .number { $0.snr }, unit: "dB", meaning: "Of the newest reception."),
            TableColumn("rssi", .optional { $0.rssi }, unit: "dBm", meaning: "Of the newest direct reception that states it."),
            TableColumn("evidence", .enumeration { $0.evidence }, meaning: "From what the newest reception is known."),
            TableColumn("time", .time { $0.time }, meaning: "When it was last heard."),
            TableColumn("first_time", .time { $0.firstTime }, meaning: "When it was first heard."),
            TableColumn("direct", .number { $0.direct }, meaning: "Receptions by a gateway."),
            TableColumn("reported", .number { $0.reported }, meaning: "Mentions in the hearer's list of neighbours."),
            TableColumn("traced", .number { $0.traced }, meaning: "Trace routes along it."),
            TableColumn("samples", .json { $0.samplesJSON }, meaning: "Strengths over time."),
            TableColumn("first_sequence", .number { $0.firstSequence }, meaning: firstSequenceMeaning),
            TableColumn("sequence", .number { $0.sequence }, meaning: sequenceMeaning),
        ] + olderRecipe(context) { $0.sequence }
    }

    fileprivate var samplesJSON: String {
        JSONValue.array(
            samples.map { sample in
                .object([
                    .init("time", .time(sample.time)), .init("snr", .measured(sample.snr)),
                    .init("evidence", .string("\(sample.evidence)")),
                ])
            }
        ).description
    }
}

extension GatewayRow: TableRow {
    public static func tableColumns(_ context: TableContext) -> [TableColumn<GatewayRow>] {
        let names = context.nodeNames
        return [
            TableColumn("gateway", .node { $0.gateway }, meaning: "Its id."),
            TableColumn("name", .code({ $0.gateway }, name: { names[$0] }), meaning: "Its present name."),
            TableColumn("time", .time { $0.time }, meaning: "When it last passed something on."),
            TableColumn("first_time", .time { $0.firstTime }, meaning: "When it first passed something on."),
            TableColumn("receptions", .number { $0.receptions }, meaning: "What it passed on."),
            TableColumn("packets", .number { $0.packets }, meaning: "What it passed on first."),
            TableColumn("nodes", .number { $0.nodes }, meaning: "Nodes whose packets it passed on."),
            TableColumn("own", .number { $0.own }, meaning: "Its own packets."),
            TableColumn("unreadable", .number { $0.unreadable }, meaning: "Receptions that no key opens."),
            TableColumn("via_mqtt", .number { $0.viaMQTT }, meaning: "Receptions that had come over the internet."),
            TableColumn("lowest_snr", .optional { $0.lowestSNR }, unit: "dB"),
            TableColumn("highest_snr", .optional { $0.highestSNR }, unit: "dB"),
            TableColumn("lowest_rssi", .optional { $0.lowestRSSI }, unit: "dBm"),
            TableColumn("highest_rssi", .optional { $0.highestRSSI }, unit: "dBm"),
            TableColumn("sources", .texts { $0.sources.map { context.source($0) } }, meaning: "Through which it came here."),
            TableColumn("first_sequence", .number { $0.firstSequence }, meaning: firstSequenceMeaning),
            TableColumn("sequence", .number { $0.sequence }, meaning: sequenceMeaning),
        ] + olderRecipe(context) { $0.sequence }
    }
}

extension GatewayNodeRow: TableRow {
    public static func tableColumns(_ context: TableContext) -> [TableColumn<GatewayNodeRow>] {
        [
            TableColumn("gateway", .node { $0.gateway }, meaning: "The gateway's id."),
            TableColumn("node", .node { $0.node }, meaning: "The node whose packets it passed on."),
            TableColumn("time", .time { $0.time }, meaning: "When it last did."),
            TableColumn("first_time", .time { $0.firstTime }, meaning: "When it first did."),
            TableColumn("receptions", .number { $0.receptions }, meaning: "How often."),
            TableColumn("highest_snr", .optional { $0.highestSNR }, unit: "dB"),
            TableColumn("first_sequence", .number { $0.firstSequence }, meaning: firstSequenceMeaning),
            TableColumn("sequence", .number { $0.sequence }, meaning: sequenceMeaning),
        ] + olderRecipe(context) { $0.sequence }
    }
}

extension MapReportRow: TableRow {
    public static func tableColumns(_ context: TableContext) -> [TableColumn<MapReportRow>] {
        [
            TableColumn("node", .node { $0.node }, meaning: "The node that reported itself."),
            TableColumn("short_name", .textOrNone { $0.shortName }),
            TableColumn("long_name", .textOrNone { $0.longName }),
            TableColumn("time", .time { $0.time }, meaning: "When it reported."),
            TableColumn("hardware", .valueOrNone(of: "HardwareModel") { $0.hardwareModel }, meaning: "Its model."),
            TableColumn("role", .value(of: "Config.DeviceConfig.Role") { $0.role }, meaning: "Its role in the mesh."),
            TableColumn("firmware", .nameOrNone { $0.firmware }, meaning: "The version of its firmware."),
            TableColumn("region", .value(of: "Config.LoRaConfig.RegionCode") { $0.region }),
            TableColumn("modem_preset", .value(of: "Config.LoRaConfig.ModemPreset") { $0.modemPreset }),
            TableColumn("online_local_nodes", .number { $0.onlineLocalNodes }, meaning: "Nodes it heard lately."),
            TableColumn("latitude", .optional { $0.latitude }, unit: "°", meaning: "North of the equator, WGS 84."),
            TableColumn("longitude", .optional { $0.longitude }, unit: "°", meaning: "East of Greenwich, WGS 84."),
            TableColumn(
                "altitude", .optional { $0.latitude == nil ? nil : $0.altitude }, unit: "m", meaning: "Above mean sea level."),
            TableColumn("precision_bits", .positive { $0.precisionBits }, meaning: "How many upper bits of the place are true."),
            TableColumn("most_online_local_nodes", .number { $0.mostOnlineLocalNodes }, meaning: "The most of all its reports."),
            TableColumn("has_default_channel", .number { $0.hasDefaultChannel }),
            TableColumn("has_opted_report_location", .number { $0.hasOptedReportLocation }),
            TableColumn("channel", .nameOrNone { $0.channel }, meaning: "Its primary channel."),
            TableColumn("reports", .number { $0.reports }, meaning: "How many were heard."),
            TableColumn("time_source", .enumeration { $0.timeSource }, meaning: timeSourceMeaning),
            TableColumn("first_time", .time { $0.firstTime }, meaning: "When it first reported."),
            TableColumn("first_sequence", .number { $0.firstSequence }, meaning: firstSequenceMeaning),
            TableColumn("sequence", .number { $0.sequence }, meaning: sequenceMeaning),
        ] + olderRecipe(context) { $0.sequence }
    }
}

extension SensorRow: TableRow {
    public static func tableColumns(_ context: TableContext) -> [TableColumn<SensorRow>] {
        [
            TableColumn("time", .time { $0.time }, meaning: "When it was sent."),
            TableColumn("node", .node { $0.node }, meaning: "The node that sent it."),
            TableColumn("kind", .enumeration { $0.kind }),
            TableColumn("content", .json { $0.contentJSON.description }, meaning: "What it sent, by name."),
            TableColumn("gateway", .nodeOrNone { $0.gateway }, meaning: "Of the first readable reception."),
            TableColumn("snr", .optional { $0.rssi == nil && $0.snr == 0 ? nil : $0.snr }, unit: "dB", meaning: snrMeaning),
            TableColumn("rssi", .optional { $0.rssi }, unit: "dBm", meaning: rssiMeaning),
            TableColumn("hops_away", .optional { $0.hopsAway }, meaning: "Hops to the gateway."),
            TableColumn("to", .addressee { $0.to }, meaning: "The id of the addressee; ^all for everyone."),
            TableColumn("channel", .nameOrNone { $0.channel }, meaning: channelMeaning),
            TableColumn("time_source", .enumeration { $0.timeSource }, meaning: timeSourceMeaning),
            TableColumn("packet_id", .number { $0.packetID }, meaning: packetMeaning),
            TableColumn("sequence", .number { $0.sequence }, meaning: sequenceMeaning),
        ] + olderRecipe(context) { $0.sequence }
    }

    fileprivate var contentJSON: JSONValue {
        switch kind {
        case .detection, .rangeTest: .object([.init("text", .string(text ?? ""))])
        case .paxcounter: Dissector.dissect(payload.rawSpan, message: "Paxcount").json
        case .storeForward: Dissector.dissect(payload.rawSpan, message: "StoreAndForward").json
        }
    }
}

extension RadioRow: TableRow {
    public static func tableColumns(_ context: TableContext) -> [TableColumn<RadioRow>] {
        [
            TableColumn(
                "source", .code(isNullable: false, { $0.source }, name: { context.source($0) }), meaning: "The radio's source."),
            TableColumn("node", .nodeOrNone { $0.node }, meaning: "The radio's id."),
            TableColumn("part", .name { $0.title }, meaning: "Which part of its settings."),
            TableColumn("time", .time { $0.time }, meaning: "When it reported."),
            TableColumn("content", .json { $0.dissected.json.description }, meaning: "The settings by name; secrets are zeroed."),
            TableColumn("time_source", .enumeration { $0.timeSource }, meaning: timeSourceMeaning),
            TableColumn("sequence", .number { $0.sequence }, meaning: sequenceMeaning),
        ] + olderRecipe(context) { $0.sequence }
    }
}
