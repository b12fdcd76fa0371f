public import MeshLedger
import ProtobufWire

extension LinkRow: TableRow {
    public static func tableColumns(_ context: TableContext) -> [TableColumn<LinkRow>] {
        tableColumns(
            first: "hearer heard snr rssi evidence", last: "samples first_sequence sequence",
            and: [TableColumn("samples", .json { .list($0.samples.map(cell)) }, from: \.samples, meaning: "Strengths over time.")]
        ) + olderRecipe(context) { $0.sequence }
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
        return tableColumns(
            first: "gateway name time first_time is_time_of_import receptions packets nodes own",
            last: "sources first_sequence sequence",
            and: [
                TableColumn(
                    "name", .code({ $0.gateway }, name: { names[$0] }), from: \.gateway, isContextual: true,
                    meaning: "Its present name."),
                TableColumn(
                    "sources", .texts { $0.sources.map { sources[$0] ?? String($0) } }, from: \.sources, isContextual: true,
                    meaning: "Through which it came here."),
            ]) + olderRecipe(context) { $0.sequence }
    }
}

extension GatewayNodeRow: TableRow {
    public static func tableColumns(_ context: TableContext) -> [TableColumn<GatewayNodeRow>] {
        tableColumns(last: "first_sequence sequence") + olderRecipe(context) { $0.sequence }
    }
}

extension MapReportRow: TableRow {
    public static func tableColumns(_ context: TableContext) -> [TableColumn<MapReportRow>] {
        tableColumns(
            first: """
                node short_name long_name time hardware role firmware region modem_preset online_local_nodes latitude longitude \
                altitude precision_bits most_online_local_nodes
                """, last: "reports time_source first_time first_sequence sequence",
            and: [
                TableColumn(
                    "hardware", .valueOrNone(of: "HardwareModel") { $0.hardwareModel }, from: \.hardwareModel,
                    meaning: Meaning.hardware),
                TableColumn("latitude", .optional { $0.latitude }, of: \.latitude, unit: "°", meaning: Meaning.latitude),
                TableColumn("longitude", .optional { $0.longitude }, of: \.longitude, unit: "°", meaning: Meaning.longitude),
                TableColumn(
                    "altitude", .optional { $0.latitude == nil ? nil : $0.altitude }, of: \.altitude, \.latitude, unit: "m",
                    meaning: Meaning.altitude),
            ]) + olderRecipe(context) { $0.sequence }
    }
}

extension MapReportRow {
    /// Columns of reports whose places are no more precise than `precision`: their height is null.
    public static func reduced(
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
        tableColumns(
            first: "time node kind content gateway snr rssi hops_away", last: "time_source packet_id sequence",
            and: [
                TableColumn("content", .json { $0.content }, meaning: "What it sent, by name."),
                TableColumn(
                    "snr", .optional { $0.rssi == nil && $0.snr == 0 ? nil : $0.snr }, of: \.snr, \.rssi, unit: "dB",
                    meaning: Meaning.snr),
            ]) + olderRecipe(context) { $0.sequence }
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
        return tableColumns(
            first: "source node part time content", last: "time_source sequence",
            and: [
                TableColumn(
                    "source", .code(isNullable: false, { $0.source }, name: { sources[$0] ?? String($0) }), from: \.source,
                    isContextual: true, meaning: "The radio's source."),
                TableColumn("part", .name { $0.title }, meaning: "Which part of its settings."),
                TableColumn(
                    "content", .json { CellValue($0.dissected.json) }, meaning: "The settings by name; secrets are zeroed."),
            ]) + olderRecipe(context) { $0.sequence }
    }
}
