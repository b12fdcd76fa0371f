import ArgumentParser
import EventLog
import MeshLedger
import Meshtastic

struct PacketsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "packets", abstract: "Each packet once, with its receivers and fields.",
        discussion: """
              meshledger packets --node '!19025c00' --limit 10
              meshledger packets --gateway '!19025c00' --since '1h ago'
              meshledger packets --since 1d --count-by node --limit 10
              meshledger packets --since 30d --count-by hour,port
              meshledger packets show 4711
              meshledger packets receptions 2740310711
            """,
        subcommands: [PacketsListCommand.self, PacketShowCommand.self, PacketReceptionsCommand.self],
        defaultSubcommand: PacketsListCommand.self, aliases: ["packet"])
}

struct PacketsListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "The packets that were heard, the newest first, each once, with its receivers.",
        discussion: """
            Receptions of a packet within an hour count as one packet. A table shows 50 unless --limit says otherwise.
            """)

    @OptionGroup var ledger: LedgerOption
    @OptionGroup var past: AsOfOption
    @OptionGroup var output: OutputOptions
    @OptionGroup var times: TimeOptions
    @OptionGroup var selection: SelectionOptions
    @OptionGroup var groups: GroupOptions
    @Option(help: ArgumentHelp("The most packets.", valueName: "count")) var limit: Int?
    @Option(help: ArgumentHelp("Packets to leave out first.", valueName: "count")) var offset = 0

    func validate() throws {
        if offset < 0 || (limit ?? 0) < 0 { throw ValidationError("limit and offset are not negative") }
    }

    func run() async throws {
        try await ledger.reading(past) { ledger in
            let writer = try GroupedOutput(PacketRow.columns, output, groups, limit: limit, offset: offset)
            let limit = limit ?? (output.format == .table ? 50 : .max)
            var left = groups.isGiven ? (limit: .max, offset: 0) : (limit: limit, offset: offset)
            let chosen = try selection.selection(in: ledger) ?? EventSelection()
            for range in try ranges(in: ledger) where left.limit > 0 {
                try ledger.forEachPacket(chosen, in: range) { row in
                    if left.offset > 0 {
                        left.offset -= 1
                    } else {
                        writer.write(row)
                        left.limit -= 1
                    }
                    return left.limit > 0
                }
            }
            writer.finish(emptyNote: "no packets")
        }
    }

    /// The events that arrived within the times, the newest first.
    private func ranges(in ledger: Ledger) throws -> [ClosedRange<EventSequence>] {
        let (log, head) = (ledger.log, ledger.asOfSequence ?? ledger.log.head)
        return try log.runs(arrivedFrom: times.since?.time, before: times.until?.time).reversed().compactMap { run in
            run.lowerBound <= head ? run.lowerBound...min(run.upperBound, head) : nil
        }
    }
}

struct PacketReceptionsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "receptions", abstract: "All receptions of a packet, with their signal values.",
        discussion: """
            An id can recur, in packets of other nodes, in later ones or in forged ones. Each is listed apart: `packet` is its first event.

              meshledger packets receptions 2740310711
              meshledger packets receptions 2740310711 --from '!19025c00' --format json
            """)

    @OptionGroup var ledger: LedgerOption
    @OptionGroup var past: AsOfOption
    @OptionGroup var output: OutputOptions
    @Option(help: "Only of this sender's packet: ids recur.") var from: NodeArgument?
    @Argument(help: "The packet's id.") var id: UInt32

    func run() async throws {
        try await ledger.reading(past) { ledger in
            let names = try EventRows.sourceNames(ledger)
            let packets = try ledger.packets(withID: id, from: from?.number(in: ledger))
            guard !packets.isEmpty else { throw CommandError(.noInput, "no packet with the id \(id) was heard") }
            let source = Column<PacketReception>("source", canCut: true) { .text(EventRows.name($0.source, in: names)) }
            let columns = (PacketReception.columns + [source]).map { $0.of(\HeardPacket.reception) }
            let writer = output.writer(HeardPacket.columns + columns)
            for packet in packets {
                for reception in packet.receptions { writer.write(HeardPacket(packet: packet, reception: reception)) }
            }
            writer.finish()
        }
    }
}

/// A reception, and its packet.
private struct HeardPacket {
    let packet: PacketRow
    let reception: PacketReception

    static var columns: [Column<HeardPacket>] {
        [
            Column("packet") { .unsigned($0.packet.firstSequence) },
            Column("from") { .text(NodeID.text($0.packet.from)) },
            Column("has_conflict", isDetail: true) { .bool($0.packet.hasConflict) },
        ]
    }
}

extension PacketReception {
    static var columns: [Column<PacketReception>] {
        [
            Column("sequence") { .unsigned($0.sequence) },
            Column("arrival") { .text(TimeText.iso(microseconds: $0.arrival.microseconds)) },
            Column("rx_time", isDetail: true) { .time($0.rxTime) },
            Column("gateway") { $0.gateway == 0 ? .null : .text(NodeID.text($0.gateway)) },
            Column("snr", unit: "dB") { $0.rssi == nil && $0.snr == 0 ? .null : .float($0.snr) },
            Column("rssi", unit: "dBm") { .number($0.rssi) },
            Column("hops_away", heading: "hops") { $0.hopsAway.map { .unsigned(UInt64($0)) } ?? .null },
            Column("relay_node", isDetail: true) { $0.relayNode == 0 ? .null : .unsigned(UInt64($0.relayNode)) },
            Column("is_via_mqtt", isDetail: true) { .bool($0.isViaMQTT) },
        ]
    }
}

extension PacketRow {
    static var columns: [Column<PacketRow>] {
        [
            Column("first_sequence") { .unsigned($0.firstSequence) },
            Column("time", shown: { $0.receptions.first.map { TimeText.iso($0.heard.seconds) } ?? "" }) { row in
                row.receptions.first.map { .text(TimeText.iso(microseconds: $0.heard.microseconds)) } ?? .null
            },
            Column("id") { .number($0.id) },
            Column("from") { .text(NodeID.text($0.from)) },
            Column("to") { .text($0.to == NodeID.broadcast ? "^all" : NodeID.text($0.to)) },
            Column("port", canCut: true) { row in
                row.port == 0 ? .null : .text(FieldTable.portName(row.port) ?? String(row.port))
            },
            Column("channel", canCut: true) { .optional($0.channel) },
            Column("opening", canCut: true) { .text("\($0.opening)") },
            Column("is_damaged", isDetail: true) { .bool($0.isDamaged) },
            Column("receptions", heading: "heard") { .unsigned(UInt64($0.receptions.count)) },
            Column("gateways", canCut: true) { row in
                .list(row.receptions.filter { $0.gateway != 0 }.map { .text(NodeID.text($0.gateway)) })
            },
            Column("sequences", isDetail: true) { .list($0.receptions.map { .unsigned($0.sequence) }) },
            Column("has_conflict", isDetail: true) { .bool($0.hasConflict) },
        ]
    }
}

extension IndexedEvent {
    static var columns: [Column<IndexedEvent>] {
        [
            Column("sequence") { .unsigned($0.sequence) },
            Column("from") { $0.hasPacket ? .text(NodeID.text($0.from)) : .null },
            Column("to") { $0.hasPacket ? .text($0.to == NodeID.broadcast ? "^all" : NodeID.text($0.to)) : .null },
            Column("gateway") { $0.gateway == 0 ? .null : .text(NodeID.text($0.gateway)) },
            Column("channel") { .optional($0.channel) },
            Column("port") { .number($0.port) },
            Column("named") { .list($0.named.map { .text(NodeID.text($0)) }) },
            Column("is_first_reception") { .bool($0.isFirstReception) },
            Column("is_first_readable") { .bool($0.isFirstReadable) },
            Column("is_repeat") { .bool($0.isRepeat) },
        ]
    }
}
