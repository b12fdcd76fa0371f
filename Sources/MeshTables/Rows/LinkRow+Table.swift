public import MeshLedger

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
