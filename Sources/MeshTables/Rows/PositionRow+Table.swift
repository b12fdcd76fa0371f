public import MeshLedger

extension PositionRow: TableRow {
    public static func tableColumns(_ context: TableContext) -> [TableColumn<PositionRow>] {
        tableColumns(
            first: """
                node time time_source latitude longitude altitude ground_speed ground_track satellites precision_bits gateway snr \
                rssi since
                """, last: "packet_id sequence",
            and: [
                TableColumn("latitude", .number { $0.latitude }, of: \.latitude, unit: "°", meaning: Meaning.latitude),
                TableColumn("longitude", .number { $0.longitude }, of: \.longitude, unit: "°", meaning: Meaning.longitude),
                TableColumn(
                    "ground_track", .optional { $0.course }, from: \.groundTrack, unit: "°",
                    meaning: "The course, clockwise from north."),
                TableColumn(
                    "snr", .optional { $0.rssi == nil && $0.snr == 0 ? nil : $0.snr }, of: \.snr, \.rssi, unit: "dB",
                    meaning: Meaning.snr),
            ]) + olderRecipe(context) { $0.sequence }
    }
}
