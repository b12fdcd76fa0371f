import MeshLedger
import MeshTables
import Meshtastic

extension HardwareModelRow {
    /// The number of a model, given by its number or its name.
    static func number(_ text: String) throws -> UInt32 {
        if let number = UInt32(text) { return number }
        let values = FieldTable.standard.enumeration(named: "HardwareModel")?.values ?? []
        guard let value = values.first(where: { $0.name == text.uppercased() }), let number = UInt32(exactly: value.number) else {
            let advice = KnownName.suggestion(
                for: text, among: values.map(\.name), then: "`meshledger nodes models` lists those that were heard of")
            throw CommandError(.usage, "no hardware model is called \(text)\(advice)")
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
