import EventLog
import MeshLedger
import MeshTables
import Meshtastic

/// How much each source and each node sent, according to the last events.
struct TrafficRates {
    struct Row {
        var kind: String
        var name: String
        var events: Int
        /// Over the time from the first to the last examined event.
        var perMinute: Double
        var busiestMinute: Int
    }

    /// How many of the last events it examines.
    static let reach: UInt64 = 100_000

    private struct Count {
        var events = 0
        var minutes: [Int64: Int] = [:]

        mutating func add(_ minute: Int64) {
            events += 1
            minutes[minute, default: 0] += 1
        }
    }

    /// The busiest first, sources before nodes.
    private(set) var rows: [Row] = []

    init(_ ledger: Ledger) throws {
        let head = ledger.log.head.rawValue
        let first = max(ledger.log.first.rawValue, head > Self.reach ? head - Self.reach + 1 : 1)
        var minutes: [Int64] = []
        var sources: [SourceID: Count] = [:]
        try ledger.log.withEvents(from: EventSequence(first), checksums: false) { header, _ in
            let minute = Self.minute(of: header)
            minutes.append(minute)
            if header.source != .log { sources[header.source, default: Count()].add(minute) }
            return true
        }
        guard let start = minutes.min(), let end = minutes.max() else { return }
        var nodes: [UInt32: Count] = [:]
        try ledger.forEachIndexedEvent(from: first) { event in
            let place = event.sequence - first
            guard event.hasPacket, event.from != 0, place < minutes.count else { return }
            nodes[event.from, default: Count()].add(minutes[Int(place)])
        }
        let span = Double(end - start + 1)
        let names = Dictionary(try ledger.log.sources().map { ($0.id, $0.name) }) { first, _ in first }
        func row(_ kind: String, _ name: String, _ count: Count) -> Row {
            Row(
                kind: kind, name: name, events: count.events, perMinute: (Double(count.events) / span * 100).rounded() / 100,
                busiestMinute: count.minutes.values.max() ?? 0)
        }
        func sorted(_ rows: [Row]) -> [Row] { rows.sorted { ($1.events, $0.name) < ($0.events, $1.name) } }
        rows = sorted(sources.map { row("source", names[$0.key] ?? "\($0.key.rawValue)", $0.value) })
        rows += sorted(nodes.map { row("node", NodeID.text($0.key), $0.value) })
    }

    /// When it was received, as far as known; in minutes since 1970.
    private static func minute(of header: EventHeader) -> Int64 {
        if case .recorded(let time) = header.reception { return time.seconds / 60 }
        return header.arrivalTime.seconds / 60
    }

    static var columns: [Column<Row>] {
        [
            Column("kind") { .text($0.kind) }, Column("name", canCut: true) { .text($0.name) },
            Column("events") { .unsigned(UInt64($0.events)) }, Column("per_minute") { .double($0.perMinute) },
            Column("busiest_minute") { .unsigned(UInt64($0.busiestMinute)) },
        ]
    }
}
