import MeshLedger
import Meshtastic

extension GatewayRow: ShownRow {
    static func shown(in ledger: Ledger) throws -> [Column<GatewayRow>] {
        let (names, sources) = (try NodeNames(ledger), try EventRows.sourceNames(ledger))
        return [
            Column("gateway") { .text(NodeID.text($0.gateway)) },
            Column("name", canCut: true) { .optional(names[$0.gateway]) },
            Column("time", heading: "last heard", heard: { $0.time }, atImport: { $0.isTimeOfImport }),
            Column("first_time", heading: "first heard", isDetail: true) { .time($0.firstTime) },
            Column("is_time_of_import", isDetail: true) { .bool($0.isTimeOfImport) },
            Column("receptions") { .unsigned($0.receptions) },
            Column("packets", heading: "packets") { .unsigned($0.packets) },
            Column("nodes") { .unsigned($0.nodes) },
            Column("own") { .unsigned($0.own) },
            Column("unreadable") { .unsigned($0.unreadable) },
            Column("via_mqtt", isDetail: true) { .unsigned($0.viaMQTT) },
            Column("lowest_snr", unit: "dB") { .float($0.lowestSNR) },
            Column("highest_snr", unit: "dB") { .float($0.highestSNR) },
            Column("lowest_rssi", unit: "dBm") { .number($0.lowestRSSI) },
            Column("highest_rssi", unit: "dBm") { .number($0.highestRSSI) },
            Column("sources", canCut: true) { .list($0.sources.map { .text(sources[$0] ?? String($0)) }) },
            Column("first_sequence", isDetail: true) { .unsigned($0.firstSequence) },
            Column("sequence", isDetail: true) { .unsigned($0.sequence) },
        ]
    }
}

extension GatewayNodeRow: ShownRow {
    static func shown(in ledger: Ledger) -> [Column<GatewayNodeRow>] {
        [
            Column("gateway") { .text(NodeID.text($0.gateway)) },
            Column("node") { .text(NodeID.text($0.node)) },
            Column("time", heading: "last heard", heard: { $0.time }, atImport: { $0.isTimeOfImport }),
            Column("first_time", heading: "first heard", heard: { $0.firstTime }, atImport: { $0.isTimeOfImport }),
            Column("is_time_of_import", isDetail: true) { .bool($0.isTimeOfImport) },
            Column("receptions") { .unsigned($0.receptions) },
            Column("highest_snr", unit: "dB") { .float($0.highestSNR) },
            Column("first_sequence", isDetail: true) { .unsigned($0.firstSequence) },
            Column("sequence", isDetail: true) { .unsigned($0.sequence) },
        ]
    }
}
