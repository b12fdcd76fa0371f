public import MeshLedger

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
