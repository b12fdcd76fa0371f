import EventLog
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

    /// The name of the node, and when it was heard.
    static func further(in ledger: Ledger, _ isWanted: (String) -> Bool) throws -> [Column<PositionRow>] {
        let heard: [Column<PositionRow>] = isWanted("heard") ? [.heard(in: ledger, \.sequence)] : []
        guard isWanted("name") else { return heard }
        let names = try NodeNames(ledger)
        return [Column("name", canCut: true) { .optional(names[$0.node]) }] + heard
    }
}

extension Column {
    /// When the event of a row was heard, which its time does not say where that is the sender's: events are read one by one.
    static func heard(in ledger: Ledger, _ sequence: @escaping (Row) -> UInt64) -> Column {
        let events = HeardEvents(ledger)
        return Column("heard", isOfImport: { events[sequence($0)]?.source == .imported }) { row in
            events[sequence(row)].map { .instant($0.time) } ?? .null
        }.onRequest
    }
}

extension Ledger {
    /// In metres.
    private static let sizeOfPlace = 100.0

    /// Since when a node has been where this position says, by the positions before it: seconds since 1970.
    func stay(at row: PositionRow) -> UInt32 {
        var since = row.since == 0 ? row.time : row.since
        guard row.timeSource != .import else { return since }
        var query = RowQuery(until: Timestamp(seconds: Int64(row.time) + 1), limit: 16)
        while true {
            let page = (try? positions(of: row.node, query)) ?? []  // then its own time is what is known
            for earlier in page {
                guard earlier.timeSource != .import, earlier.distance(to: row) <= Self.sizeOfPlace else { return since }
                since = min(since, earlier.since == 0 ? earlier.time : earlier.since)
            }
            guard page.count == query.limit else { return since }
            query.offset += query.limit
            query.limit *= 4
        }
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
