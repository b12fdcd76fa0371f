import ArgumentParser
import MeshViews
import Meshtastic

struct PositionsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "positions", abstract: "Where nodes were, and their tracks.",
        discussion: """
              meshledger positions --node '!19025c00'
              meshledger positions track --node '!19025c00' --since yesterday
              meshledger positions --node Rover --since yesterday --oldest-first --format csv
            """,
        subcommands: [PositionsListCommand.self, PositionsTrackCommand.self], defaultSubcommand: PositionsListCommand.self)
}

struct PositionsListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "Positions, node by node.")

    @OptionGroup var ledger: LedgerOption
    @OptionGroup var past: AsOfOption
    @OptionGroup var output: OutputOptions
    @OptionGroup var times: TimeOptions
    @OptionGroup var page: PageOptions
    @Option(help: "Only this node: !hex, a number, or its name.") var node: NodeArgument?

    func run() async throws {
        try await ledger.reading(past) { ledger in
            let writer = output.writer(try ledger.columns(PositionRow.self))
            let number = try node?.number(in: ledger)
            try ledger.forEachPosition(of: number, page.query(times)) { writer.write($0) }
            writer.finish(emptyNote: "no positions")
        }
    }
}

extension PositionRow {
    static var columns: [Column<PositionRow>] {
        [
            Column("node") { .text(NodeID.text($0.node)) },
            Column("time") { .time($0.time) },
            Column("time_source", isDetail: true) { .text("\($0.timeSource)") },
            Column("latitude") { .double($0.latitude) },
            Column("longitude") { .double($0.longitude) },
            Column("altitude", unit: "m") { .number($0.altitude) },
            Column("ground_speed", heading: "speed", unit: "km/h") { .number($0.groundSpeed) },
            Column("ground_track", heading: "course", unit: "°") { .optional($0.course) },
            Column("satellites", heading: "sats") { $0.satellites == 0 ? .null : .number($0.satellites) },
            Column("precision_bits", heading: "bits") { $0.precisionBits == 0 ? .null : .number($0.precisionBits) },
            Column("gateway") { $0.gateway == 0 ? .null : .text(NodeID.text($0.gateway)) },
            Column("snr", unit: "dB", isDetail: true) { $0.rssi == nil && $0.snr == 0 ? .null : .float($0.snr) },
            Column("rssi", unit: "dBm", isDetail: true) { .number($0.rssi) },
            Column("since", isDetail: true) { .time($0.since) },
            Column("sent_time", isDetail: true) { .time($0.sentTime) },
            Column("fix_time", isDetail: true) { .time($0.fixTime) },
            Column("pdop", isDetail: true) { .optional(Position.dilution(hundredths: $0.pdop)) },
            Column("hdop", isDetail: true) { .optional(Position.dilution(hundredths: $0.hdop)) },
            Column("vdop", isDetail: true) { .optional(Position.dilution(hundredths: $0.vdop)) },
            Column("packet_id", isDetail: true) { .number($0.packetID) },
            Column("sequence", isDetail: true) { .unsigned($0.sequence) },
        ]
    }
}
