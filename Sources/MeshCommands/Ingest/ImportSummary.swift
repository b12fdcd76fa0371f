import EventLog
import MeshLedger

/// How much of what was imported can be read, and what would help with the rest.
struct ImportSummary {
    private static let mostChannels = 5

    /// Readable packets, and further receptions of packets.
    private var readable: UInt64 = 0
    private var repeats: UInt64 = 0
    /// Packets that no key opens, by channel.
    private var unread: [String: UInt64] = [:]
    /// Events that cannot be decoded, by source.
    private var damaged: [String: Set<UInt64>] = [:]

    /// - Parameter last: the last event before the import.
    init(of ledger: Ledger, after last: EventSequence) throws {
        let first = last.rawValue + 1
        guard ledger.log.head > last else { return }
        for (packets, count) in try ledger.packetCounts(after: last) {
            if packets.port == nil { unread[packets.channel, default: 0] += count } else { readable += count }
        }
        try ledger.forEachIndexedEvent(from: first) { if $0.isRepeat { repeats += 1 } }
        let names = try EventRows.sourceNames(ledger)
        for row in try ledger.quarantine() where row.sequence >= first {
            guard let event = try ledger.log.event(EventSequence(row.sequence)) else { continue }
            damaged[EventRows.name(event.header.source, in: names), default: []].insert(row.sequence)
        }
    }

    /// `hash 81`, as `--channel` takes it.
    private static func name(_ channel: String) -> String {
        channel.isEmpty ? "no channel" : channel.replacing(", unreadable", with: "")
    }

    var lines: [String] {
        let closed = unread.values.reduce(0, +)
        let again = repeats == 0 ? "" : ", and \(repeats) receptions that were there already"
        var lines = ["\(readable + closed) packets: \(readable) readable, \(closed) not\(again)"]
        if closed > 0 {
            let channels = unread.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
            let shown = channels.prefix(Self.mostChannels).map { "\(Self.name($0.key)) (\($0.value))" }
            let more = channels.count > shown.count ? " and \(channels.count - shown.count) more channels" : ""
            lines.append("  no known key opens \(shown.joined(separator: ", "))\(more)")
            lines.append(
                "  `meshledger keys add NAME --psk KEY` opens a channel's; `meshledger channels --where readable=false` lists all"
            )
            if unread["hash 0, unreadable"] != nil {
                lines.append(
                    "  hash 0 is mostly direct messages: `meshledger keys add --private-key - --node NODE` opens those to a node")
            }
        }
        for (source, events) in damaged.sorted(by: { $0.key < $1.key }) {
            lines.append("\(events.count) events of \(source) cannot be decoded and are kept as they are")
        }
        if !damaged.isEmpty { lines.append("  `meshledger view quarantine` says why") }
        return lines
    }
}
