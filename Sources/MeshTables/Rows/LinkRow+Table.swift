public import MeshLedger
import ProtobufWire

extension LinkRow: TableRow {
    public static func tableColumns(_ context: TableContext) -> [TableColumn<LinkRow>] {
        [
            TableColumn("hearer", .node { $0.hearer }, of: \.hearer, meaning: "The node that hears."),
            TableColumn("heard", .node { $0.heard }, of: \.heard, meaning: "The node that is heard."),
            TableColumn("snr", .number { $0.snr }, of: \.snr, unit: "dB", meaning: "Of the newest reception."),
            TableColumn(
                "rssi", .optional { $0.rssi }, of: \.rssi, unit: "dBm", meaning: "Of the newest direct reception that states it."),
            TableColumn(
                "evidence", .enumeration { $0.evidence }, of: \.evidence, meaning: "From what the newest reception is known."),
            TableColumn("time", .time { $0.time }, of: \.time, meaning: "When it was last heard."),
            TableColumn("first_time", .time { $0.firstTime }, of: \.firstTime, meaning: "When it was first heard."),
            TableColumn("is_time_of_import", .number { $0.isTimeOfImport }, of: \.isTimeOfImport, meaning: timeOfImportMeaning),
            TableColumn("direct", .number { $0.direct }, of: \.direct, meaning: "Receptions by a gateway."),
            TableColumn(
                "reported", .number { $0.reported }, of: \.reported, meaning: "Mentions in the hearer's list of neighbours."),
            TableColumn("traced", .number { $0.traced }, of: \.traced, meaning: "Trace routes along it."),
            TableColumn("samples", .json { .list($0.samples.map(cell)) }, from: \.samples, meaning: "Strengths over time."),
            TableColumn("first_sequence", .number { $0.firstSequence }, of: \.firstSequence, meaning: firstSequenceMeaning),
            TableColumn("sequence", .number { $0.sequence }, of: \.sequence, meaning: sequenceMeaning),
        ] + olderRecipe(context) { $0.sequence }
    }

    package static func cell(_ sample: Sample) -> CellValue {
        .object([
            CellMember(name: "time", value: .time(sample.time)), CellMember(name: "snr", value: .float(sample.snr)),
            CellMember(name: "evidence", value: .text("\(sample.evidence)")),
        ])
    }
}

extension GatewayRow: TableRow {
    public static func tableColumns(_ context: TableContext) -> [TableColumn<GatewayRow>] {
        let (names, sources) = (context.nodeNames, context.sourceNames)
        return [
            TableColumn("gateway", .node { $0.gateway }, of: \.gateway, meaning: "Its id."),
            TableColumn(
                "name", .code({ $0.gateway }, name: { names[$0] }), from: \.gateway, isContextual: true,
                meaning: "Its present name."),
            TableColumn("time", .time { $0.time }, of: \.time, meaning: "When it last passed something on."),
            TableColumn("first_time", .time { $0.firstTime }, of: \.firstTime, meaning: "When it first passed something on."),
            TableColumn("is_time_of_import", .number { $0.isTimeOfImport }, of: \.isTimeOfImport, meaning: timeOfImportMeaning),
            TableColumn("receptions", .number { $0.receptions }, of: \.receptions, meaning: "What it passed on."),
            TableColumn("packets", .number { $0.packets }, of: \.packets, meaning: "What it passed on first."),
            TableColumn("nodes", .number { $0.nodes }, of: \.nodes, meaning: "Nodes whose packets it passed on."),
            TableColumn("own", .number { $0.own }, of: \.own, meaning: "Its own packets."),
            TableColumn("unreadable", .number { $0.unreadable }, of: \.unreadable, meaning: "Receptions that no key opens."),
            TableColumn(
                "via_mqtt", .number { $0.viaMQTT }, of: \.viaMQTT, meaning: "Receptions that had come over the internet."),
            TableColumn("lowest_snr", .optional { $0.lowestSNR }, of: \.lowestSNR, unit: "dB"),
            TableColumn("highest_snr", .optional { $0.highestSNR }, of: \.highestSNR, unit: "dB"),
            TableColumn("lowest_rssi", .optional { $0.lowestRSSI }, of: \.lowestRSSI, unit: "dBm"),
            TableColumn("highest_rssi", .optional { $0.highestRSSI }, of: \.highestRSSI, unit: "dBm"),
            TableColumn(
                "sources", .texts { $0.sources.map { sources[$0] ?? String($0) } }, from: \.sources, isContextual: true,
                meaning: "Through which it came here."),
            TableColumn("first_sequence", .number { $0.firstSequence }, of: \.firstSequence, meaning: firstSequenceMeaning),
            TableColumn("sequence", .number { $0.sequence }, of: \.sequence, meaning: sequenceMeaning),
        ] + olderRecipe(context) { $0.sequence }
    }
}

extension GatewayNodeRow: TableRow {
    public static func tableColumns(_ context: TableContext) -> [TableColumn<GatewayNodeRow>] {
        [
            TableColumn("gateway", .node { $0.gateway }, of: \.gateway, meaning: "The gateway's id."),
            TableColumn("node", .node { $0.node }, of: \.node, meaning: "The node whose packets it passed on."),
            TableColumn("time", .time { $0.time }, of: \.time, meaning: "When it last did."),
            TableColumn("first_time", .time { $0.firstTime }, of: \.firstTime, meaning: "When it first did."),
            TableColumn("is_time_of_import", .number { $0.isTimeOfImport }, of: \.isTimeOfImport, meaning: timeOfImportMeaning),
            TableColumn("receptions", .number { $0.receptions }, of: \.receptions, meaning: "How often."),
            TableColumn("highest_snr", .optional { $0.highestSNR }, of: \.highestSNR, unit: "dB"),
            TableColumn("first_sequence", .number { $0.firstSequence }, of: \.firstSequence, meaning: firstSequenceMeaning),
            TableColumn("sequence", .number { $0.sequence }, of: \.sequence, meaning: sequenceMeaning),
        ] + olderRecipe(context) { $0.sequence }
    }
}

extension MapReportRow: TableRow {
    public static func tableColumns(_ context: TableContext) -> [TableColumn<MapReportRow>] {
        [
            TableColumn("node", .node { $0.node }, of: \.node, meaning: "The node that reported itself."),
            TableColumn("short_name", .textOrNone { $0.shortName }, of: \.shortName),
            TableColumn("long_name", .textOrNone { $0.longName }, of: \.longName),
            TableColumn("time", .time { $0.time }, of: \.time, meaning: "When it reported."),
            TableColumn(
                "hardware", .valueOrNone(of: "HardwareModel") { $0.hardwareModel }, from: \.hardwareModel, meaning: "Its model."),
            TableColumn("role", .value(of: "Config.DeviceConfig.Role") { $0.role }, of: \.role, meaning: "Its role in the mesh."),
            TableColumn("firmware", .nameOrNone { $0.firmware }, of: \.firmware, meaning: "The version of its firmware."),
            TableColumn("region", .value(of: "Config.LoRaConfig.RegionCode") { $0.region }, of: \.region),
            TableColumn("modem_preset", .value(of: "Config.LoRaConfig.ModemPreset") { $0.modemPreset }, of: \.modemPreset),
            TableColumn(
                "online_local_nodes", .number { $0.onlineLocalNodes }, of: \.onlineLocalNodes, meaning: "Nodes it heard lately."),
            TableColumn(
                "latitude", .optional { $0.latitude }, of: \.latitude, unit: "°", meaning: "North of the equator, WGS 84."),
            TableColumn(
                "longitude", .optional { $0.longitude }, of: \.longitude, unit: "°", meaning: "East of Greenwich, WGS 84."),
            TableColumn(
                "altitude", .optional { $0.latitude == nil ? nil : $0.altitude }, of: \.altitude, \.latitude, unit: "m",
                meaning: "Above mean sea level."),
            TableColumn(
                "precision_bits", .positive { $0.precisionBits }, of: \.precisionBits,
                meaning: "How many upper bits of the place are true."),
            TableColumn(
                "most_online_local_nodes", .number { $0.mostOnlineLocalNodes }, of: \.mostOnlineLocalNodes,
                meaning: "The most of all its reports."),
            TableColumn("has_default_channel", .number { $0.hasDefaultChannel }, of: \.hasDefaultChannel),
            TableColumn("has_opted_report_location", .number { $0.hasOptedReportLocation }, of: \.hasOptedReportLocation),
            TableColumn("channel", .nameOrNone { $0.channel }, of: \.channel, meaning: "Its primary channel."),
            TableColumn("reports", .number { $0.reports }, of: \.reports, meaning: "How many were heard."),
            TableColumn("time_source", .enumeration { $0.timeSource }, of: \.timeSource, meaning: timeSourceMeaning),
            TableColumn("first_time", .time { $0.firstTime }, of: \.firstTime, meaning: "When it first reported."),
            TableColumn("first_sequence", .number { $0.firstSequence }, of: \.firstSequence, meaning: firstSequenceMeaning),
            TableColumn("sequence", .number { $0.sequence }, of: \.sequence, meaning: sequenceMeaning),
        ] + olderRecipe(context) { $0.sequence }
    }
}

extension MapReportRow {
    /// Columns of reports whose places are no more precise than `precision`: their height is null.
    package static func reduced(
        _ columns: [TableColumn<MapReportRow>], to precision: PlacePrecision?
    ) -> [TableColumn<MapReportRow>] {
        guard let precision, precision.bits < 32 else { return columns }
        return columns.map { column in
            guard column.name == "altitude" else { return column }
            let height: @Sendable (MapReportRow) -> Int32? = { _ in nil }
            return TableColumn(column.name, .optional(height), unit: column.schema.unit, meaning: column.schema.meaning)
        }
    }
}

extension SensorRow: TableRow {
    public static func tableColumns(_ context: TableContext) -> [TableColumn<SensorRow>] {
        [
            TableColumn("time", .time { $0.time }, of: \.time, meaning: "When it was sent."),
            TableColumn("node", .node { $0.node }, of: \.node, meaning: "The node that sent it."),
            TableColumn("kind", .enumeration { $0.kind }, of: \.kind),
            TableColumn("content", .json { $0.content }, meaning: "What it sent, by name."),
            TableColumn("gateway", .nodeOrNone { $0.gateway }, of: \.gateway, meaning: "Of the first readable reception."),
            TableColumn(
                "snr", .optional { $0.rssi == nil && $0.snr == 0 ? nil : $0.snr }, of: \.snr, \.rssi, unit: "dB",
                meaning: snrMeaning),
            TableColumn("rssi", .optional { $0.rssi }, of: \.rssi, unit: "dBm", meaning: rssiMeaning),
            TableColumn("hops_away", .optional { $0.hopsAway }, of: \.hopsAway, meaning: "Hops to the gateway."),
            TableColumn("to", .addressee { $0.to }, of: \.to, meaning: "The id of the addressee; ^all for everyone."),
            TableColumn("channel", .nameOrNone { $0.channel }, of: \.channel, meaning: channelMeaning),
            TableColumn("time_source", .enumeration { $0.timeSource }, of: \.timeSource, meaning: timeSourceMeaning),
            TableColumn("packet_id", .number { $0.packetID }, of: \.packetID, meaning: packetMeaning),
            TableColumn("sequence", .number { $0.sequence }, of: \.sequence, meaning: sequenceMeaning),
        ] + olderRecipe(context) { $0.sequence }
    }

    /// Every field by name; for a text, the text itself.
    package var content: CellValue {
        switch kind {
        case .detection, .rangeTest: .object([CellMember(name: "text", value: .text(text ?? ""))])
        case .paxcounter: CellValue(Dissector.dissect(payload.rawSpan, message: "Paxcount").json)
        case .storeForward: CellValue(Dissector.dissect(payload.rawSpan, message: "StoreAndForward").json)
        }
    }
}

extension RadioRow: TableRow {
    public static func tableColumns(_ context: TableContext) -> [TableColumn<RadioRow>] {
        let sources = context.sourceNames
        return [
            TableColumn(
                "source", .code(isNullable: false, { $0.source }, name: { sources[$0] ?? String($0) }), from: \.source,
                isContextual: true, meaning: "The radio's source."),
            TableColumn("node", .nodeOrNone { $0.node }, of: \.node, meaning: "The radio's id."),
            TableColumn("part", .name { $0.title }, meaning: "Which part of its settings."),
            TableColumn("time", .time { $0.time }, of: \.time, meaning: "When it reported."),
            TableColumn("content", .json { CellValue($0.dissected.json) }, meaning: "The settings by name; secrets are zeroed."),
            TableColumn("time_source", .enumeration { $0.timeSource }, of: \.timeSource, meaning: timeSourceMeaning),
            TableColumn("sequence", .number { $0.sequence }, of: \.sequence, meaning: sequenceMeaning),
        ] + olderRecipe(context) { $0.sequence }
    }
}
