import EventLog
import MeshLedger
import Meshtastic
import ProtobufWire

/// How much of an import can be read, and what would help with the rest.
struct ImportSummary {
    private static let mostChannels = 5

    /// Readable packets, and additional receptions of packets.
    private var readable: UInt64 = 0
    private var repeats: UInt64 = 0
    /// Packets that no key opens, by channel.
    private var unread: [String: UInt64] = [:]
    /// Messages in MQTT's JSON form that no key would open: of an unknown type, or without content.
    private var unknownJSON: UInt64 = 0
    /// The channels with a known key that does not open packets with their hash, by the name of the hash in lists.
    private var known: [String: [String]] = [:]
    /// Events that cannot be decoded, by source; of files with one name in several folders, by path.
    private var damaged: [String: Set<UInt64>] = [:]

    /// - Parameters:
    ///   - ranges: the events that this import stored, in order.
    ///   - files: those of each file.
    init(
        of ledger: Ledger, _ ranges: [ClosedRange<EventSequence>], _ files: [String: [ClosedRange<EventSequence>]]
    ) throws {
        for range in ranges {
            for (packets, count) in try ledger.packetCounts(in: range) {
                if packets.port == nil { unread[packets.channel, default: 0] += count } else { readable += count }
            }
            var closed: [UInt64: String] = [:]
            try ledger.forEachIndexedEvent(in: range) { event in
                if event.isRepeat { repeats += 1 }
                if event.hasPacket, event.isFirstReception, event.port == nil { closed[event.sequence] = event.channel }
                return true
            }
            try takeJSON(closed, range, in: ledger)
        }
        for channel in ledger.keys.keyring.channels {
            known[ChannelIdentity.title(ofHash: UInt32(channel.hash)), default: []].append(channel.name)
        }
        let names = try EventRows.sourceNames(ledger)
        let alike = Dictionary(grouping: files.keys) { $0.split(separator: "/").last ?? "" }.values.filter { $0.count > 1 }
        for row in try ledger.maintenance.quarantine() where Self.contains(ranges, EventSequence(row.sequence)) {
            let sequence = EventSequence(row.sequence)
            guard let event = try ledger.log.event(sequence) else { continue }
            let file = alike.lazy.joined().first { Self.contains(files[$0] ?? [], sequence) }
            damaged[file ?? EventRows.name(event.header.source, in: names), default: []].insert(row.sequence)
        }
    }

    /// Removes the packets that came unencrypted, in MQTT's JSON form.
    private mutating func takeJSON(
        _ closed: [UInt64: String], _ range: ClosedRange<EventSequence>, in ledger: Ledger
    ) throws {
        guard let first = closed.keys.min(), let last = closed.keys.max() else { return }
        var found: [String: UInt64] = [:]
        try ledger.log.withEvents(from: EventSequence(first), count: Int(last - first + 1)) { header, _ in
            if CaptureForm(rawValue: header.encoding.rawValue) == .mqttJSON, let channel = closed[header.sequence.rawValue] {
                found[channel, default: 0] += 1
            }
            return true
        }
        for (channel, count) in found {
            let taken = min(count, unread[channel] ?? 0)
            unknownJSON += taken
            unread[channel] = (unread[channel] ?? 0) - taken
            if unread[channel] == 0 { unread[channel] = nil }
        }
    }

    private static func contains(_ ranges: [ClosedRange<EventSequence>], _ sequence: EventSequence) -> Bool {
        let place = ranges.partitioningIndex { $0.upperBound >= sequence }
        return place < ranges.count && ranges[place].contains(sequence)
    }

    /// `hash 81`, a form that `--channel` accepts.
    private static func name(_ channel: String) -> String {
        channel.isEmpty ? "no channel" : channel.replacing(", unreadable", with: "")
    }

    var lines: [String] {
        let closed = unread.values.reduce(0, +)
        let again =
            repeats == 0 ? "" : "; \(repeats.counted("reception was", "receptions were")) already there"
        let packets = readable + closed + unknownJSON
        var lines = [
            packets == 0
                ? "no packets\(again)"
                : "\(packets.counted("packet")): \(readable.grouped) readable, \((closed + unknownJSON).grouped) not\(again)"
        ]
        if closed > 0 {
            let channels = unread.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
            let shown = channels.prefix(Self.mostChannels).map { "\(Self.name($0.key)) (\($0.value))" }
            let more = channels.count > shown.count ? " and \((channels.count - shown.count).counted("more channel"))" : ""
            lines.append("  no known key opens \(shown.joined(separator: ", "))\(more)")
            lines.append(
                "  `meshledger keys add NAME --psk KEY` opens a channel's; `meshledger channels --where readable=false` lists all"
            )
            if unread["hash 0, unreadable"] != nil {
                lines.append(
                    "  hash 0 is mostly direct messages: `meshledger keys add --private-key - --node NODE` opens those to a node")
            }
        }
        for (channel, names) in known.sorted(by: { $0.key < $1.key }) where unread[channel] != nil {
            lines.append(
                "  \(Self.name(channel)) is also that of \(names.sorted().joined(separator: ", ")), whose key is known and does not open these: they are damaged, "
                    + "or of another channel with that hash")
        }
        if unknownJSON > 0 {
            lines.append(
                "  \(unknownJSON) came as JSON of an unknown type, or without content: no key would open them; they are kept unchanged"
            )
        }
        for (source, events) in damaged.sorted(by: { $0.key < $1.key }) {
            lines.append("\(events.count.counted("event")) of \(source) cannot be decoded; kept unchanged")
        }
        if !damaged.isEmpty { lines.append("  `meshledger view quarantine` says why") }
        return lines
    }
}
