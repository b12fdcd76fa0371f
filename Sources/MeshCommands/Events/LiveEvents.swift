import EventLog
import MeshLedger
import Meshtastic
import Projections

/// Decodes events as they are appended to a log, and selects them as the index would.
struct LiveEvents: @unchecked Sendable {
    private static let batch = 1_024
    private let ledger: Ledger
    private let selection: EventSelection?
    private let channels: Set<String>
    private let since: Timestamp?
    /// Synchronization: one task at a time uses it.
    private let rows: EventRows

    /// - Parameter channels: those that count as the selected one, too.
    init(_ ledger: Ledger, _ selection: EventSelection?, of channels: [String] = [], since: Timestamp?) throws {
        (self.ledger, self.selection, self.channels, self.since) = (ledger, selection, Set(channels), since)
        rows = try EventRows(ledger, with: [.named, .content])
    }

    var head: EventSequence { ledger.log.head }

    func news(after head: EventSequence) -> EventSubscription { ledger.log.subscribe(after: head, batch: Self.batch) }

    func forEach(in range: ClosedRange<EventSequence>, _ body: (EventRow) -> Void) throws {
        let sequences = (range.lowerBound.rawValue...range.upperBound.rawValue).map { EventSequence($0) }
        try ledger.forEachEvent(at: sequences, includesErased: true) { header, payload in
            let row = rows.row(header, payload)
            if isWanted(row) { body(row) }
        }
    }

    /// The latest earlier events, which may share packets with new ones.
    func forEachEarlier(through head: EventSequence, most: UInt64, _ body: (EventRow) -> Void) throws {
        let last = head.rawValue
        let hourAgo = try ledger.log.lastSequence(arrivedBy: Timestamp.now.adding(seconds: -PacketRow.windowSeconds)).rawValue
        let least = last > 100 ? last - 100 : 0
        let first = max(min(hourAgo, least), last > most ? last - most : 0, ledger.log.first.rawValue - 1) + 1
        guard first <= last else { return }
        try forEach(in: EventSequence(first)...head, body)
    }

    /// The events that have arrived since the requested time, oldest first; none if no time was requested.
    func forEachSince(through head: EventSequence, _ body: (EventRow) -> Void) throws {
        guard since != nil else { return }
        let order = EventOrder(by: .arrival, since: since, newestFirst: false)
        try ledger.forEachSequence(order) { sequences in
            try ledger.forEachEvent(at: sequences.filter { $0 <= head }, includesErased: true) { header, payload in
                let row = rows.row(header, payload)
                if isWanted(row) { body(row) }
            }
            return true
        }
    }

    private func isWanted(_ row: EventRow) -> Bool {
        if let since, row.header.arrivalTime < since { return false }
        guard let selection else { return true }
        let channel = channels.contains(row.channel) ? selection.channel ?? row.channel : row.channel
        return selection.selects(row.packet, channel: channel, named: row.named)
    }
}

/// Remembers which packets were heard, so that each is printed once.
struct HeardPackets {
    private static let most = 100_000
    private static let mostOfID = 8

    private var known: [UInt64: [Heard]] = [:]
    private var older: [UInt64: [Heard]] = [:]

    private struct Heard {
        /// Nil as long as no reception has a known one.
        var time: Timestamp?
        var content: PacketPrint

        func isWithin(_ seconds: Int64, of other: Timestamp?) -> Bool {
            guard let time, let other else { return true }
            return abs(time.seconds - other.seconds) <= seconds
        }
    }

    /// Whether this is the first reception of its packet: another one may have the same sender and id, but other content.
    /// - Parameter heard: nil if only the time of its import is known.
    mutating func isNew(_ identity: UInt64, heard: Timestamp?, content: PacketPrint) -> Bool {
        var packets = known[identity] ?? older[identity] ?? []
        let place = packets.lastIndex { $0.isWithin(PacketRow.windowSeconds, of: heard) && $0.content.hasContent(of: content) }
        if let place {
            packets[place].time = packets[place].time ?? heard
        } else {
            packets.append(Heard(time: heard, content: content))
        }
        known[identity] = packets.suffix(Self.mostOfID)
        if known.count > Self.most { (older, known) = (known, [:]) }
        return place == nil
    }
}
