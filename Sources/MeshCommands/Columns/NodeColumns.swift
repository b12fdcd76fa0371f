import Foundation
import MeshLedger
import MeshTables
import Meshtastic
import ViewQuery

extension NodeRow: ShownRow {
    /// Tables include people's decisions if there are any.
    static func shown(in ledger: Ledger) throws -> [ShownColumn<NodeRow>] {
        [
            "node", ShownColumn("short_name", heading: "short", canCut: true),
            ShownColumn("long_name", heading: "name", canCut: true),
            ShownColumn("hardware", canCut: true), "role", .heard("last_heard", isMain: true) { $0.isTimeOfImport },
            "snr", "rssi",
            ShownColumn("hops_away", heading: "hops"), ShownColumn("channel", canCut: true), "packets", "receptions",
            .summary("note", heading: "marks", isDetail: try !ledger.hasMarkedNodes(), shown: \.marks),
        ]
    }

    /// A person's decisions about it, in one text.
    private var marks: String {
        let words = [
            (isFavorite, "favorite"), (isIgnored, "ignored"), (isArchived, "archived"), (!alias.isEmpty, "alias \(alias)"),
        ]
        let what = words.filter(\.0).map(\.1).joined(separator: ", ")
        return note.isEmpty ? what : what.isEmpty ? note : "\(what): \(note)"
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

extension NodeChangeRow: ShownRow {
    static func shown(in ledger: Ledger) -> [ShownColumn<NodeChangeRow>] {
        [
            .time { $0.timeSource }, ShownColumn("node", isMain: true), ShownColumn("changes", canCut: true),
            ShownColumn("short_name", heading: "short", canCut: true), ShownColumn("long_name", heading: "name", canCut: true),
            ShownColumn("hardware", canCut: true), "role", ShownColumn("firmware", canCut: true),
            ShownColumn("same_key_as", heading: "key of"), ShownColumn("kind", heading: "known from"), "sequence",
        ]
    }
}

extension MapReportRow: ShownRow {
    static func shown(in ledger: Ledger) -> [ShownColumn<MapReportRow>] {
        [
            "node", ShownColumn("short_name", heading: "short", canCut: true),
            ShownColumn("long_name", heading: "name", canCut: true),
            .heard("time", heading: "reported") { $0.timeSource == .import }, ShownColumn("hardware", canCut: true), "role",
            ShownColumn("firmware", canCut: true), "region", ShownColumn("modem_preset", heading: "preset"),
            ShownColumn("online_local_nodes", heading: "online nodes"), "latitude", "longitude",
            ShownColumn("precision_bits", heading: "bits"),
        ]
    }
}

extension HardwareRow: ShownRow {
    static func shown(in ledger: Ledger) -> [ShownColumn<HardwareRow>] {
        [
            "model", "number", "node", .heard("time", heading: "last reported") { $0.isTimeOfImport },
            .heard("first_time", heading: "first reported") { $0.isTimeOfImport }, "count", "firmware", "target",
            ShownColumn("first_sequence", heading: "first event"), ShownColumn("sequence", heading: "last event"),
        ]
    }
}

extension RadioRow: ShownRow {
    static func shown(in ledger: Ledger) -> [ShownColumn<RadioRow>] {
        [
            ShownColumn("source", canCut: true), "node", "part", .time { $0.timeSource },
            ShownColumn("content", isText: true, shown: { CellValue($0.dissected.json).summary }),
        ]
    }
}
