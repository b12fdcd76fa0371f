import ArgumentParser
import EventLog
import MeshLedger
import Meshtastic
import Projections

struct EventList: RowList {
    static let about = ListDescription(
        name: "events", abstract: "The log's events, the newest first.",
        discussion: """
            Times are those of the mesh: when each event was heard. time_source says what tells it: recorded (its file), rx_time (the receiver's clock),
            arrival (it came in live), or import where nothing does. With --by arrival, events are chosen and sorted by when they came into the ledger, as they stand
            in the log. A table shows 50 unless --limit says otherwise.

              meshledger events --limit 10
              meshledger events --since 2025-09-10 --until 2025-09-11
              meshledger events --since '1h ago' --by arrival --format jsonl
              meshledger events --node '!19025c00' --port TEXT_MESSAGE_APP
              meshledger events --node Rover --mentions
              meshledger events --source 'radio on the roof'
              meshledger events --where 'bytes > 200' --columns time,from,port,bytes
              meshledger events --since 1d --count-by gateway,port
            """)

    @OptionGroup var selection: SelectionOptions
    @Option(help: ArgumentHelp("The time by which events are chosen and sorted: heard or arrival.", valueName: "clock"))
    var by = EventOrder.Clock.heard
    @Option(help: "Only of this source: its name, or a part that only one name has.") var source: String?
    @Flag(help: "Only events that could not be decoded.") var failed = false

    func columns(_ request: ListRequest) -> [Column<EventRow>] { EventRow.columns(by: by) }

    func write(_ request: ListRequest) throws {
        let request = request.withUsualLimit
        try request.writeWhileWanted(columns(request), emptyNote: emptyNote, time: by == .heard ? "time" : "arrival") {
            try find($0, in: request.ledger, $1)
        }
    }

    func visit(_ query: RowQuery, in ledger: Ledger, _ body: (EventRow) -> Void) throws {
        try find(query, in: ledger) {
            body($0)
            return true
        }
    }

    private func find(_ query: RowQuery, in ledger: Ledger, _ body: (EventRow) -> Bool) throws {
        let order = EventOrder(
            by: by, since: query.since, until: query.until, newestFirst: query.newestFirst, try selection.selection(in: ledger))
        let reading = try EventReading(ledger)
        guard failed || source != nil else {
            return try reading.visit(order, offset: query.offset, limit: query.limit, body)
        }
        let number = try source.map { try EventRows.source($0, EventRows.sourceNames(ledger)) }
        var (skips, left) = (query.offset, query.limit)
        guard left > 0 else { return }
        try reading.visit(order) { row in
            guard number ?? row.header.source.rawValue == row.header.source.rawValue, !failed || row.packet?.failure != nil else {
                return true
            }
            if skips > 0 {
                skips -= 1
                return true
            }
            left -= 1
            return body(row) && left > 0
        }
    }
}
