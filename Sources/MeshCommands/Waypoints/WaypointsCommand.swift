import ArgumentParser
import EventLog
import MeshViews
import Meshtastic

struct WaypointsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "waypoints", abstract: "Places that nodes share: those on the map now.",
        discussion: """
              meshledger waypoints
              meshledger waypoints --all --node '!19025c00' --format json
            """)

    @OptionGroup var ledger: LedgerOption
    @OptionGroup var past: AsOfOption
    @OptionGroup var output: OutputOptions
    @OptionGroup var times: TimeOptions
    @OptionGroup var page: PageOptions
    @Option(help: "Only those that this node made, changed last or locked: !hex, a number, or its name.") var node: NodeArgument?
    @Option(help: "Only those last changed on this channel.") var channel: String?
    @Flag(help: "Also those that are deleted or expired.") var all = false

    func run() async throws {
        try await ledger.reading(past) { ledger in
            let writer = output.writer(try ledger.columns(WaypointRow.self))
            let query = page.query(times, channel: channel)
            let now = ledger.asOfTime ?? .now
            for row in try ledger.waypoints(of: node?.number(in: ledger), activeAt: all ? nil : now, query) { writer.write(row) }
            writer.finish(emptyNote: all ? "no waypoints" : "no waypoints on the map; --all shows deleted and expired ones")
        }
    }
}

extension WaypointRow {
    /// - Parameter now: seconds since 1970.
    static func columns(now: UInt32) -> [Column<WaypointRow>] {
        [
            Column("id") { .number($0.id) },
            Column("state") { .text($0.state(at: now).rawValue) },
            Column("name", canCut: true) { .optional($0.name) },
            Column("details", canCut: true) { .optional($0.details) },
            Column("icon", shown: { Unicode.Scalar($0.icon).map { $0.properties.isEmoji ? String($0) : "" } ?? "" }) {
                $0.icon == 0 ? .null : .number($0.icon)
            },
            Column("latitude") { $0.latitude.map { .double($0) } ?? .null },
            Column("longitude") { $0.longitude.map { .double($0) } ?? .null },
            Column("expire") { .time($0.expire) },
            Column("locked_to", heading: "locked to") { $0.lockedTo == 0 ? .null : .text(NodeID.text($0.lockedTo)) },
            Column("creator") { .text(NodeID.text($0.creator)) },
            Column("from", heading: "changed by") { .text(NodeID.text($0.from)) },
            Column("time", heading: "changed") { .time($0.time) },
            Column("time_source", isDetail: true) { .text("\($0.timeSource)") },
            Column("to", isDetail: true) { .text(NodeID.text($0.to)) },
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
