import Foundation
import MeshViews
import Meshtastic

extension NodeRow {
    static var columns: [Column<NodeRow>] {
        [
            Column("node") { .text(NodeID.text($0.number)) },
            Column("number", isDetail: true) { .number($0.number) },
            Column("short_name", heading: "short", canCut: true) { .optional($0.shortName) },
            Column("long_name", heading: "name", canCut: true) { .optional($0.longName) },
            Column("hardware", canCut: true) {
                $0.hardwareModel == 0 ? .null : .text(FieldTable.hardwareName($0.hardwareModel) ?? String($0.hardwareModel))
            },
            Column("role") { $0.isKnown ? .text(FieldTable.roleName($0.role) ?? String($0.role)) : .null },
            Column("state", isDetail: true) { .text($0.state.rawValue) },
            Column("last_heard") { .time($0.lastHeard) },
            Column("first_heard", isDetail: true) { .time($0.firstHeard) },
            Column("snr", unit: "dB") { $0.rssi == nil && $0.snr == 0 ? .null : .float($0.snr) },
            Column("rssi", unit: "dBm") { .number($0.rssi) },
            Column("hops_away", heading: "hops") { .number($0.hopsAway) },
            Column("via_mqtt", isDetail: true) { .bool($0.isViaMQTT) },
            Column("channel", canCut: true) { .optional($0.channel) },
            Column("packets") { .unsigned($0.packets) },
            Column("receptions") { .unsigned($0.receptions) },
            Column("unreadable", isDetail: true) { .unsigned($0.unreadable) },
            Column("firmware", isDetail: true) { .optional($0.firmware) },
            Column("is_licensed", isDetail: true) { .bool($0.isLicensed) },
            Column("is_unmessagable", isDetail: true) { $0.isUnmessagable.map { .bool($0) } ?? .null },
            Column("public_key", isDetail: true) {
                $0.publicKey.isEmpty ? .null : .text(Data($0.publicKey).base64EncodedString())
            },
            Column("has_key_conflict", isDetail: true) { .bool($0.hasKeyConflict) },
            Column("first_sequence", isDetail: true) { .unsigned($0.firstSequence) },
            Column("last_sequence", isDetail: true) { .unsigned($0.lastSequence) },
        ]
    }
}
