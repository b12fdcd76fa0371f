import ArgumentParser
import EventLog
import Foundation
import MeshLedger
import ProtobufWire

struct EraseCommand: AsyncParsableCommand, ShowsTimes {
    static let configuration = CommandConfiguration(
        commandName: "erase", abstract: "Erase events for good, in the log and in all views.",
        discussion: """
            Each event keeps its header (its times and source) and a hash instead of its bytes, so that checkpoints and proofs of all
            other events hold. A separate event records which were erased, and why. The log and the views are rewritten without the old bytes, which
            takes as much free space as the log has; old views are removed. The next command that writes finishes an interrupted rewriting.

            --node erases the packets that the node sent, including unreadable ones; its entries in the node lists that radios report; and the notes and
            marks on it and its messages. --mentions also erases packets sent to it and packets that it uploaded as a gateway. Not erased: what other nodes
            say about it (neighbours, routes, quoted texts), lines that could not be read, source names, and copies elsewhere (exports, backups, other
            ledgers). Of events that retention has dropped, counts per channel stay too; with --mentions, so does the fact that it uploaded others' packets.

            A ledger into which events were imported or merged keeps their bytes until they are erased there, too; only an exact copy of this one erases them
            when it imports a later recording of it, also what this one had dropped before. A ledger restored from a backup has what was erased after the backup's last run, unless --erasures-of
            names a ledger that records it. Where the request is
            hidden, an exact copy loses all rows of dropped events, and says what it may keep, since it cannot know whose were erased.

            Of events that retention has dropped, views keep rows: --packet removes those of the packet itself (a message, a position, telemetry, what a sensor
            sent, a waypoint, a trace route, a map report, an entry of a node's history); what it contributed to nodes, links, gateways, channels and hardware models stays, and so does a
            waypoint that another packet has changed since. Packets without an id (0) cannot be distinguished there, so their map reports and entries
            stay, too. --sequence is for events that the log still has.

            The event records the request, such as the node's number. With --hidden it has a salted hash instead: with the salt, which is
            printed and stored nowhere, you can prove what the request was; without it nobody can find out, unless --reason reveals it.

            Asks first on a terminal; a script passes --yes. --dry-run lists the events that would be erased, and counts the rows of dropped ones.

              meshledger erase --node '!19025c00' --reason 'its owner asked for it' --dry-run
              meshledger erase --node '!19025c00' --reason 'its owner asked for it' --yes
              meshledger erase --packet 3735928559 --from '!19025c00'
              meshledger erase --sequence 17 --sequence 20-25
            """)

    @OptionGroup var ledger: LedgerOption
    @OptionGroup var output: OutputOptions
    @Option(help: "The packets of this node: !hex, a number, or its name.") var node: NodeArgument?
    @Flag(help: "With --node: also packets sent to it and packets that it uploaded as a gateway.") var mentions = false
    @Option(help: "All receptions of the packet with this id, as `events --format json` shows it.") var packet: PacketIDArgument?
    @Option(help: "With --packet: only of this sender. Ids of different nodes can be equal.") var from: NodeArgument?
    @Option(
        help: ArgumentHelp("An event, or the first and the last of some, such as 20-25. Can be repeated.", valueName: "range"))
    var sequence: [SequenceArgument] = []
    @Option(help: "Why; stored in the log.") var reason = "not given"
    @Flag(help: "The log stores a salted hash of the request, not its names; the salt is printed.") var hidden = false
    @Flag(help: "Do not ask.") var yes = false
    @Flag(help: "List what would be erased, and erase nothing.") var dryRun = false

    func validate() throws {
        let chosen = [node != nil, packet != nil, !sequence.isEmpty].count { $0 }
        guard chosen == 1 else { throw ValidationError("name what to erase: either --node, --packet or --sequence") }
        if mentions && node == nil { throw ValidationError("--mentions goes with --node") }
        if from != nil && packet == nil { throw ValidationError("--from goes with --packet") }
        if !dryRun && output.format != .table { throw ValidationError("--format goes with --dry-run") }
    }

    func run() async throws {
        if dryRun { return try await ledger.reading(saying: "reading") { try list($0) } }
        guard yes || Consent.canAsk else {
            throw CommandError(
                .usage,
                "erasing cannot be undone: there is no terminal for the question, so add --yes, or --dry-run to see what it would erase"
            )
        }
        try await ledger.writing { ledger in
            let chosen = try await ledger.readingBuilt { try selection(in: $0) }
            let (ranges, rows) = try await WaitingLine.during("searching") {
                try await ledger.reading { (try $0.erasure.erasable(chosen), try $0.erasure.droppedRows(chosen)) }
            }
            let count = Self.count(ranges)
            let output = StandardOutput()
            let forgotten = chosen.forgotten
            if node == nil { try await ledger.reading { reportWhatStays(try Self.dropped(in: $0)) } }
            guard count > 0 || rows?.isEmpty == false else { return output.line("nothing to erase") }
            var what = count.counted("event")
            if let first = ranges.first, let last = ranges.last { what += " from \(first.lowerBound) to \(last.upperBound)" }
            if let rows, !rows.isEmpty { what += " and \(Self.text(rows))" }
            if !yes, !Consent.isGiven("erase \(what) for good?") { throw CommandError(.declined, "nothing was erased") }
            let kept = try await ledger.reading { try $0.erasure.restatements(chosen, in: ranges) }
            if !kept.isEmpty { try await ledger.annotate(kept) }
            let salt = hidden ? Hexadecimal.text((0..<16).map { _ in UInt8.random(in: .min ... .max) }) : nil
            let request = salt.map { chosen.hidden(salt: $0) } ?? chosen.description
            let report = try await WaitingLine.during("erasing") {
                try await ledger.erase(ranges, reason: reason, request: request, forgetting: forgotten)
            }
            try await ledger.catchUp(title: "rebuilding the views")
            let events = report.events.map { "\($0)" }.joined(separator: ", ")
            let source = events.isEmpty ? "" : ", as event \(events) says"
            output.line("\(report.erased.counted("event")) erased\(source)")
            if report.events.isEmpty { output.line("nothing was erased, so no event records the request or the reason") }
            if let salt, !report.events.isEmpty {
                output.line("the log has it as \(request): the SHA-256 of \"\(salt) \(chosen.description)\", of which")
                output.line("the first word is the salt: keep it to prove what the request was")
            }
            if let rows, !rows.isEmpty, !report.events.isEmpty { output.line("\(Self.text(rows)) are erased, too") }
        }
    }

    private func selection(in ledger: Ledger) throws -> ErasureSelection {
        if let node { return .node(try node.number(in: ledger), mentions: mentions) }
        if let packet { return .packet(id: packet.id, from: try from?.number(in: ledger)) }
        return .sequences(sequence.map(\.range))
    }

    private func list(_ ledger: Ledger) throws {
        let chosen = try selection(in: ledger)
        let (ranges, dropped) = (try ledger.erasure.erasable(chosen), try ledger.erasure.droppedRows(chosen))
        let rows = try EventRows(ledger)
        let writer = try output.writer(EventRow.columns)
        for range in ranges {
            var next = range.lowerBound
            while next <= range.upperBound {
                let events = try ledger.log.events(in: next...range.upperBound, limit: 1_000)
                guard let last = events.last else { break }
                for event in events { writer.write(rows.row(event)) }
                next = last.sequence.advanced(by: 1)
            }
        }
        let hasRows = dropped?.isEmpty == false
        writer.finish(emptyNote: hasRows ? "no event to erase, only rows of dropped events" : "nothing to erase")
        if let dropped, hasRows { StandardOutput.error("meshledger: \(Self.text(dropped)) would be erased, too") }
        if node == nil { reportWhatStays(try Self.dropped(in: ledger)) }
    }

    private static func dropped(in ledger: Ledger) throws -> EventSequence? {
        try ledger.retention.last()?.retention.first.advanced(by: -1)
    }

    private static func text(_ rows: DroppedRows) -> String { "rows of dropped events up to \(rows.through) (\(rows))" }

    /// Not all rows in the baselines state which packets they came from.
    private func reportWhatStays(_ dropped: EventSequence?) {
        guard let dropped else { return }
        let what =
            packet == nil
            ? "rows are left in the views"
            : "its contributions to nodes, links, gateways, channels, hardware and views of your own are left in the views"
                + (packet?.id == 0 ? ", and so are map reports and the history of nodes, since it has no id" : "")
        StandardOutput.error(
            "meshledger: of receptions up to event \(dropped), which retention has dropped, \(what): these are not erased; --node takes those of a "
                + "node away")
    }

    private static func count(_ ranges: [ClosedRange<EventSequence>]) -> UInt64 {
        ranges.reduce(0) { $0 + $1.upperBound.rawValue - $1.lowerBound.rawValue + 1 }
    }
}

/// A packet's id: a decimal number, or hexadecimal with 0x.
struct PacketIDArgument: ExpressibleByArgument {
    let id: UInt32

    init?(argument: String) {
        let isHex = argument.lowercased().hasPrefix("0x")
        guard let id = isHex ? UInt32(argument.dropFirst(2), radix: 16) : UInt32(argument) else { return nil }
        self.id = id
    }
}

/// A sequence, or the first and the last of a range.
struct SequenceArgument: ExpressibleByArgument {
    let range: ClosedRange<EventSequence>

    init?(argument: String) {
        let parts = argument.split(separator: "-", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), let first = UInt64(parts[0]), let last = UInt64(parts[parts.count - 1]), first > 0,
            first <= last, last < .max
        else { return nil }
        range = EventSequence(first)...EventSequence(last)
    }
}
