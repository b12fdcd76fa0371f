import MeshLedger
import Meshtastic

extension LinkRow: ShownRow {
    static func shown(in ledger: Ledger) -> [Column<LinkRow>] {
        [
            Column("hearer") { .text(NodeID.text($0.hearer)) },
            Column("heard", heading: "hears") { .text(NodeID.text($0.heard)) },
            Column("snr", unit: "dB") { .float($0.snr) },
            Column("rssi", unit: "dBm") { .number($0.rssi) },
            Column(cases: "evidence", heading: "known from") { $0.evidence },
            Column("time", heading: "last heard", heard: { $0.time }, atImport: { $0.isTimeOfImport }),
            Column("first_time", heading: "first heard", heard: { $0.firstTime }, atImport: { $0.isTimeOfImport }),
            Column("is_time_of_import", isDetail: true) { .bool($0.isTimeOfImport) },
            Column("direct") { .unsigned($0.direct) },
            Column("reported") { .unsigned($0.reported) },
            Column("traced") { .unsigned($0.traced) },
            Column("samples", isDetail: true) { .list($0.samples.map(Self.cell)) },
            Column("first_sequence", isDetail: true) { .unsigned($0.firstSequence) },
            Column("sequence", isDetail: true) { .unsigned($0.sequence) },
        ]
    }

    static func cell(_ sample: Sample) -> CellValue {
        .object([
            CellMember(name: "time", value: .time(sample.time)), CellMember(name: "snr", value: .float(sample.snr)),
            CellMember(name: "evidence", value: .text("\(sample.evidence)")),
        ])
    }
}
