import Foundation
import MeshLedger
import Meshtastic

extension NodeChangeRow: ShownRow {
    static func shown(in ledger: Ledger) -> [Column<NodeChangeRow>] {
        [
            Column(time: { $0.time }, of: { $0.timeSource }),
            Column("node") { .text(NodeID.text($0.node)) },
            Column("changes", canCut: true) { .list($0.changes.names.map { .text($0) }) },
            Column("short_name", heading: "short", canCut: true) { .optional($0.shortName) },
            Column("long_name", heading: "name", canCut: true) { .optional($0.longName) },
            Column("hardware", canCut: true) { $0.hardwareModel == 0 ? .null : .name($0.hardwareModel, of: "HardwareModel") }
                .named(.enumeration("HardwareModel")),
            Column("role") { .name($0.role, of: "Config.DeviceConfig.Role") }.named(.enumeration("Config.DeviceConfig.Role")),
            Column("firmware", canCut: true) { .optional($0.firmware) },
            Column("public_key", isDetail: true) {
                $0.publicKey.isEmpty ? .null : .text(Data($0.publicKey).base64EncodedString())
            },
            Column("same_key_as", heading: "key of") { .node($0.sameKeyAs) },
            Column(cases: "kind", heading: "told by") { $0.kind },
            Column("gateway", isDetail: true) { .node($0.gateway) },
            Column(cases: "time_source", isDetail: true) { $0.timeSource },
            Column("sequence") { .unsigned($0.sequence) },
        ]
    }
}
