import Foundation
import MeshLedger
import Meshtastic
import ViewQuery

extension NodeRow {
    /// A person's decisions about it, in one text.
    fileprivate var marks: String {
        let words = [
            (isFavorite, "favorite"), (isIgnored, "ignored"), (isArchived, "archived"), (!alias.isEmpty, "alias \(alias)"),
        ]
        let what = words.filter(\.0).map(\.1).joined(separator: ", ")
        return note.isEmpty ? what : what.isEmpty ? note : "\(what): \(note)"
    }

    static var columns: [Column<NodeRow>] {
        [
            Column("node") { .text(NodeID.text($0.number)) },
            Column("number", isDetail: true) { .number($0.number) },
            Column("short_name", heading: "short", canCut: true) { .optional($0.shortName) },
            Column("long_name", heading: "name", canCut: true) { .optional($0.longName) },
            Column("hardware", canCut: true) {
                $0.hardwareModel == 0 ? .null : .text(FieldTable.hardwareName($0.hardwareModel) ?? String($0.hardwareModel))
            }.named(.enumeration("HardwareModel")),
            Column("role") { $0.isKnown ? .text(FieldTable.roleName($0.role) ?? String($0.role)) : .null }.named(
                .enumeration("Config.DeviceConfig.Role")),
            Column("state", isDetail: true) { .text($0.state.rawValue) }.named(.these(NodeRow.State.allCases.map(\.rawValue))),
            Column("last_heard", heard: { $0.lastHeard }, atImport: { $0.isTimeOfImport }),
            Column("first_heard", isDetail: true) { .time($0.firstHeard) },
            Column("is_time_of_import", isDetail: true) { .bool($0.isTimeOfImport) },
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
            Column("is_favorite", isDetail: true) { .bool($0.isFavorite) },
            Column("is_ignored", isDetail: true) { .bool($0.isIgnored) },
            Column("archived_at", isDetail: true) { .time($0.archivedAt) },
            Column("alias", isDetail: true) { .optional($0.alias) },
            Column("note", heading: "marks", isDetail: true, canCut: true, shown: \.marks) { .optional($0.note) },
        ]
    }
}

extension NodeRow: ShownRow {
    var origin: UInt64 { firstSequence }

    /// Tables include people's decisions if there are any.
    static func shown(in ledger: Ledger) throws -> [Column<NodeRow>] {
        var columns: [Column<NodeRow>] = columns
        if try ledger.hasMarkedNodes() {
            for index in columns.indices where columns[index].name == "note" { columns[index].isDetail = false }
        }
        return columns
    }
}

extension Ledger {
    fileprivate func hasMarkedNodes() throws -> Bool {
        var marked = FetchDescriptor<NodeRow>(
            predicate: #Predicate {
                $0.isFavorite || $0.isIgnored || $0.archivedAt > 0 || !$0.note.isEmpty || !$0.alias.isEmpty
            }, fetchLimit: 1)
        marked.includesArchived = true
        return try fetchCount(marked) > 0
    }
}
