import MeshLedger
import MeshTables

extension PositionRow: ShownRow {
    static func shown(in ledger: Ledger) -> [ShownColumn<PositionRow>] {
        [
            "node", .time { $0.timeSource }, ShownColumn("latitude", isMain: true), ShownColumn("longitude", isMain: true),
            "altitude", ShownColumn("ground_speed", heading: "speed"),
            ShownColumn("ground_track", heading: "course"), ShownColumn("satellites", heading: "sats"),
            ShownColumn("precision_bits", heading: "bits"), "gateway",
        ]
    }

    /// The name of the node.
    static func further(in ledger: Ledger, _ isWanted: (String) -> Bool) throws -> [Column<PositionRow>] {
        guard isWanted("name") else { return [] }
        let names = try NodeNames(ledger)
        return [Column("name", canCut: true) { .optional(names[$0.node]) }]
    }
}

extension WaypointRow: ShownRow {
    static func shown(in ledger: Ledger) -> [ShownColumn<WaypointRow>] {
        [
            "id", "state", ShownColumn("name", canCut: true), ShownColumn("details", isText: true),
            ShownColumn("icon", shown: { Unicode.Scalar($0.icon).map { $0.properties.isEmoji ? String($0) : "" } ?? "" }),
            "latitude", "longitude", "expire", "locked_to", "creator", ShownColumn("from", heading: "changed by"),
            ShownColumn("time", heading: "changed"),
        ]
    }
}
