import ArgumentParser
import EventLog
import MeshViews
import Meshtastic

struct EventsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "events", abstract: "The log's events as they came, the newest first.",
        discussion: """
            Times are those of arrival in this ledger. A table shows 50 events unless --limit says otherwise.

              meshledger events --limit 10
              meshledger events --since '1h ago' --format jsonl
              meshledger events --node '!7efeee00' --port TEXT_MESSAGE_APP
            """)

    @OptionGroup var ledger: LedgerOption
    @OptionGroup var output: OutputOptions
    @OptionGroup var times: TimeOptions
    @OptionGroup var page: PageOptions
    @Option(help: "Only packets from or to this node: !hex, a number, or its name.") var node: NodeArgument?
    @Option(help: "Only packets of this channel.") var channel: String?
    @Option(help: "Only packets of this port: a name such as TEXT_MESSAGE_APP, or a number.") var port: String?
    @Flag(help: "Only events that could not be decoded.") var failed = false

    func run() async throws {
        try await ledger.reading { ledger in
            let rows = try EventRows(ledger)
            let writer = output.writer(EventRow.columns)
            let blocks = try node.map { BlockFilter.packets(fromOrTo: try $0.number(in: ledger)) }
            let limit = output.format == .table ? 50 : Int.max
            let pages = try EventPages(ledger.log, times, page, defaultLimit: limit, where: blocks)
            let filter = try filter(in: ledger)
            if let filter {
                try pages.visit { event in
                    let row = rows.row(event)
                    guard filter(row) else { return false }
                    writer.write(row)
                    return true
                } skipping: {
                    filter(rows.row($0))
                }
            } else {
                try pages.visitAll { writer.write(rows.row($0)) }
            }
            writer.finish(emptyNote: "no events")
        }
    }

    private func filter(in ledger: Ledger) throws -> ((EventRow) -> Bool)? {
        guard node != nil || channel != nil || port != nil || failed else { return nil }
        let number = try node?.number(in: ledger)
        return { row in
            guard let packet = row.packet else { return false }
            if failed, packet.failure == nil { return false }
            if let number, !packet.hasPacket || packet.from != number && packet.to != number { return false }
            if let channel, row.channel != channel { return false }
            if let port, String(packet.port) != port {
                return FieldTable.portName(packet.port)?.caseInsensitiveMatches(port) ?? false
            }
            return true
        }
    }
}

extension String {
    fileprivate func caseInsensitiveMatches(_ other: String) -> Bool { lowercased() == other.lowercased() }
}
