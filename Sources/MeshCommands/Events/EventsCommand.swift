import ArgumentParser
import EventLog
import MeshLedger
import Meshtastic

struct EventsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "events", abstract: "The log's events as they came, the newest first.",
        discussion: """
            Times are those of arrival in this ledger. A table shows 50 events unless --limit says otherwise.

              meshledger events --limit 10
              meshledger events --since '1h ago' --format jsonl
              meshledger events --node '!19025c00' --port TEXT_MESSAGE_APP
              meshledger events --source 'radio on the roof'
              meshledger events --since 1d --count-by gateway,port
            """)

    @OptionGroup var ledger: LedgerOption
    @OptionGroup var past: AsOfOption
    @OptionGroup var output: OutputOptions
    @OptionGroup var times: TimeOptions
    @OptionGroup var page: PageOptions
    @OptionGroup var selection: SelectionOptions
    @OptionGroup var groups: GroupOptions
    @Option(help: "Only of this source: its name, or a part that only one name has.") var source: String?
    @Flag(help: "Only events that could not be decoded.") var failed = false

    func run() async throws {
        try await ledger.reading(past) { ledger in
            let rows = try EventRows(ledger)
            let writer = try GroupedOutput(EventRow.columns, output, groups, limit: page.limit, offset: page.offset)
            var page = page
            if groups.isGiven { (page.limit, page.offset) = (nil, 0) }
            let limit = output.format == .table && !groups.isGiven ? 50 : Int.max
            let pages = try EventPages(ledger, times, page, defaultLimit: limit)
            let chosen = try selection.selection(in: ledger)
            let number = try source.map { try EventRows.source($0, EventRows.sourceNames(ledger)) }
            if failed || number != nil {
                let isChosen = { (row: EventRow) in
                    (number ?? row.event.header.source.rawValue) == row.event.header.source.rawValue
                        && (!failed || row.packet?.failure != nil) && selection.fits(row, chosen)
                }
                try pages.visit { event in
                    let row = rows.row(event)
                    guard isChosen(row) else { return false }
                    writer.write(row)
                    return true
                } skipping: {
                    isChosen(rows.row($0))
                }
            } else if let chosen {
                try pages.visit(chosen, in: ledger) { writer.write(rows.row($0)) }
            } else {
                try pages.visitAll { writer.write(rows.row($0)) }
            }
            writer.finish(emptyNote: "no events")
        }
    }
}
