import EventLog
import MeshLedger
import Meshtastic

extension WaypointRow: ShownRow {
    static func shown(in ledger: Ledger) -> [Column<WaypointRow>] {
        let now = UInt32(clamping: (ledger.asOfTime ?? .now).seconds)
        return [
            Column("id") { .number($0.id) },
            Column("state") { .text($0.state(at: now).rawValue) }.named(.these(WaypointRow.State.allCases.map(\.rawValue))),
            Column("name", canCut: true) { .optional($0.name) },
            Column("details", isText: true) { .optional($0.details) },
            Column("icon", shown: { Unicode.Scalar($0.icon).map { $0.properties.isEmoji ? String($0) : "" } ?? "" }) {
                $0.icon == 0 ? .null : .number($0.icon)
            },
            Column("latitude") { $0.latitude.map { .double($0) } ?? .null },
            Column("longitude") { $0.longitude.map { .double($0) } ?? .null },
            Column("expire") { .time($0.expire) },
            Column("locked_to", heading: "locked to") { $0.lockedTo == 0 ? .null : .text(NodeID.text($0.lockedTo)) },
            Column("creator") { .text(NodeID.text($0.creator)) },
            Column("from", heading: "changed by") { PacketCell.node($0.from) },
            Column("time", heading: "changed") { .time($0.time) },
            Column(cases: "time_source", isDetail: true) { $0.timeSource },
            Column("to", isDetail: true) { PacketCell.node($0.to) },
            Column("channel", isDetail: true) { .optional($0.channel) },
            Column("gateway", isDetail: true) { $0.gateway == 0 ? .null : .text(NodeID.text($0.gateway)) },
            Column("geofence_radius", unit: "m", isDetail: true) { $0.geofenceRadius == 0 ? .null : .number($0.geofenceRadius) },
            Column("bounding_box", isDetail: true) { $0.boundingBox.map(Self.cell) ?? .null },
            Column("notifies_on_enter", isDetail: true) { .bool($0.notifiesOnEnter) },
            Column("notifies_on_exit", isDetail: true) { .bool($0.notifiesOnExit) },
            Column("notifies_favorites_only", isDetail: true) { .bool($0.notifiesFavoritesOnly) },
            Column("changes", isDetail: true) { .number($0.changes) },
            Column("refused_changes", isDetail: true) { .number($0.refusedChanges) },
            Column("packet_id", isDetail: true) { .number($0.packetID) },
            Column("first_sequence", isDetail: true) { .unsigned($0.firstSequence) },
            Column("sequence", isDetail: true) { .unsigned($0.sequence) },
        ]
    }

    private static func cell(_ box: Waypoint.BoundingBox) -> CellValue {
        let edges = [("west", box.westE7), ("south", box.southE7), ("east", box.eastE7), ("north", box.northE7)]
        return .object(edges.map { CellMember(name: $0.0, value: .double(Double($0.1) / 1e7)) })
    }
}
