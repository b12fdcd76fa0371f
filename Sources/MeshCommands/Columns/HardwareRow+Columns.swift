import MeshLedger
import Meshtastic

extension HardwareModelRow {
    /// The number of a model, given by its number or its name.
    static func number(_ text: String) throws -> UInt32 {
        if let number = UInt32(text) { return number }
        let values = FieldTable.standard.enumeration(named: "HardwareModel")?.values ?? []
        guard let value = values.first(where: { $0.name == text.uppercased() }), let number = UInt32(exactly: value.number) else {
            throw CommandError(
                .usage, "no hardware model is called \(text); `meshledger nodes hardware` lists those that were heard of")
        }
        return number
    }

    static var columns: [Column<HardwareModelRow>] {
        [
            Column("model") { .name($0.model, of: "HardwareModel") }.named(.enumeration("HardwareModel")),
            Column("number") { .number($0.model) },
            Column("nodes", shown: { String($0.nodes.count) }) { .list($0.nodes.map { .node($0) }) },
            Column("former_nodes", shown: { String($0.formerNodes.count) }) { .list($0.formerNodes.map { .node($0) }) },
            Column("targets", canCut: true) { .list($0.targets.map { .text($0) }) },
            Column("firmware", canCut: true) { .list($0.firmware.map { .text($0) }) },
            Column("first_time", heading: "first heard") { .time($0.firstTime) },
            Column("time", heading: "last heard") { .time($0.time) },
        ]
    }
}

extension HardwareRow: ShownRow {
    static func shown(in ledger: Ledger) -> [Column<HardwareRow>] {
        [
            Column("model") { .name($0.model, of: "HardwareModel") }.named(.enumeration("HardwareModel")),
            Column("number") { .number($0.model) },
            Column("node") { .text(NodeID.text($0.node)) },
            Column("time") { .time($0.time) },
            Column("first_time") { .time($0.firstTime) },
            Column("is_time_of_import") { .bool($0.isTimeOfImport) },
            Column("count") { .unsigned($0.count) },
            Column("firmware") { .optional($0.firmware) },
            Column("target") { .optional($0.target) },
            Column("first_sequence") { .unsigned($0.firstSequence) },
            Column("sequence") { .unsigned($0.sequence) },
        ]
    }
}
