import ArgumentParser
import EventLog
import MeshLedger
import MeshTables
import Meshtastic
import Projections

struct EventList: LiveList {
    static let about = ListDescription(
        name: "events", abstract: "The log's events, the newest first.",
        discussion: """
            Times are those of the mesh: when each event was heard. time_source names the clock: recorded (its file), else receiver (its clock),
            arrival (it was live), or import if there is no other; such events are in no window of --since and --until, and are sorted by the time of their import. With --by arrival, events are selected and sorted by their arrival in the ledger, which is the
            order of the log. On a terminal a table shows 50 unless --limit says otherwise; in a pipe or a file it has all. The column content, shown with --follow and by --columns, is what a packet contains;
            snr, rssi and hops_away, for --columns, --where and the counts, are how it was received.

              meshledger events --limit 10
              meshledger events --since 2025-09-10 --until 2025-09-11
              meshledger events --since '1h ago' --by arrival --format jsonl
              meshledger events --node '!19025c00' --port TEXT_MESSAGE_APP
              meshledger events --node Rover --mentions
              meshledger events --source 'radio on the roof'
              meshledger events --follow
              meshledger events --follow --channel LongFast --port TEXT_MESSAGE_APP
              meshledger events --where 'bytes > 200' --columns time,from,port,bytes
              meshledger events --since 1d --count-by gateway,port
            """)

    @OptionGroup var selection: SelectionOptions
    @OptionGroup var following: FollowOption
    @Option(help: ArgumentHelp("The time by which events are chosen and sorted: heard or arrival.", valueName: "clock"))
    var by = EventOrder.Clock.heard
    @Option(
        help:
            "Only of this source: its name, or a part that only one name has. With --follow, one that has no events yet is awaited."
    )
    var source: String?
    @Flag(help: "Only events that could not be decoded.") var failed = false

    func columns(_ request: ListRequest) throws -> [Column<EventRow>] {
        try EventRow.columns(by: by, in: request.ledger) + EventRow.signalColumns
            + [.nodeName("from_name", in: request.ledger) { $0.packet?.from ?? 0 }, EventRow.contentColumn.onRequest]
    }

    func liveColumns() -> [Column<EventRow>] { EventRow.liveColumns(by: by) + EventRow.signalColumns }

    func live(_ ledger: Ledger) throws -> (EventRow, Bool) -> EventRow? {
        guard let source else { return { row, _ in isChosen(row, nil) ? row : nil } }
        var number = try EventRows.knownSource(source, EventRows.sourceNames(ledger))
        return { row, _ in
            // A source without events gets its number with the first one.
            if number == nil, row.source.contains(source) { number = row.header.source.rawValue }
            return number != nil && isChosen(row, number) ? row : nil
        }
    }

    func awaited(in ledger: Ledger) throws -> String? {
        let names = try EventRows.sourceNames(ledger)
        guard let source, try EventRows.knownSource(source, names) == nil else { return nil }
        let advice = KnownName.suggestion(
            for: source, among: names.values.sorted(), then: "its events are printed when they come")
        return "there is no source \(source) yet\(advice)"
    }

    private func isChosen(_ row: EventRow, _ source: UInt32?) -> Bool {
        source ?? row.header.source.rawValue == row.header.source.rawValue && (!failed || row.packet?.failure != nil)
    }

    func write(_ request: ListRequest) throws {
        let request = request.withUsualLimit
        if by == .heard || selection.isGiven, try !request.ledger.hasIndexOfPackets() { return try writeWithoutIndex(request) }
        var hasLeftOut = false
        try request.writeWhileWanted(
            columns(request), emptyNote: emptyNote, time: by == .heard ? "time" : "arrival", total: { try count(request) },
            leftOut: { try leftOut(request, isSeen: hasLeftOut, $0) }
        ) { query, body in
            try find(
                query, in: request.ledger, withContent: request.options.mentions("content"), leftOut: { hasLeftOut = true }, body)
        }
    }

    private func writeWithoutIndex(_ request: ListRequest) throws {
        StandardOutput.error("meshledger: \(request.ledger.path): the index is not there now; events are listed by their arrival")
        let withContent = request.options.mentions("content")
        try request.writeWhileWanted(columns(request), emptyNote: emptyNote, time: "arrival") { query, body in
            try findWithoutIndex(query, in: request.ledger, withContent: withContent, body)
        }
    }

    private func leftOut(_ request: ListRequest, isSeen: Bool, _ isChosen: (EventRow) -> Bool) throws -> LeftOutRows? {
        guard by == .heard, request.query.hasTimes else { return nil }
        let ledger = request.ledger
        let query = EventOrder(by: .arrival, since: request.query.since, try selection.selection(in: ledger))
        let number = try source.map { try EventRows.source($0, EventRows.sourceNames(ledger)) }
        return try LeftOutRows.counted("event", isSeen: isSeen) { take in
            try EventReading(ledger).visit(query) { take($0.isTimeOfImport && self.isChosen($0, number) && isChosen($0)) }
        }
    }

    /// How many events there are; nil where counting them takes long.
    private func count(_ request: ListRequest) throws -> UInt64? {
        if let known = try countByIndex(request) { return known }
        return try RowPage.counted { take in try find(request.query.unpaged, in: request.ledger) { _ in take() } }
    }

    /// The same; nil where that takes reading them.
    private func countByIndex(_ request: ListRequest) throws -> UInt64? {
        guard !failed, source == nil, !request.ledger.countsOnlyHeard else { return nil }
        let query = request.options.query
        guard by == .arrival || !query.hasTimes else { return nil }  // the index does not have which times are known
        let order = EventOrder(by: by, since: query.since, until: query.until)
        let runs = try request.ledger.runs(of: order)
        guard let selection = try selection.selection(in: request.ledger) else {
            return runs.reduce(0) { $0 + $1.upperBound.rawValue - $1.lowerBound.rawValue + 1 }
        }
        guard runs.count <= 16 else { return nil }
        return try runs.reduce(0) { try $0 + UInt64(request.ledger.sequences(of: selection, in: $1).count) }
    }

    func visit(_ query: RowQuery, in ledger: Ledger, _ body: (EventRow) -> Void) throws {
        try find(query, in: ledger) {
            body($0)
            return true
        }
    }

    private func find(
        _ query: RowQuery, in ledger: Ledger, withContent: Bool = false, leftOut: () -> Void = {}, _ body: (EventRow) -> Bool
    ) throws {
        let order = EventOrder(
            by: by, since: query.since, until: query.until, newestFirst: query.newestFirst, try selection.selection(in: ledger))
        let reading = try EventReading(ledger, with: withContent ? .content : [])
        let needsTime = by == .heard && query.hasTimes
        guard failed || source != nil || needsTime else {
            return try reading.visit(order, offset: query.offset, limit: query.limit, body)
        }
        let number = try source.map { try EventRows.source($0, EventRows.sourceNames(ledger)) }
        var page = Page(query)
        guard !page.isFull else { return }
        try reading.visit(order) { row in
            guard isChosen(row, number) else { return true }
            guard !needsTime || !row.isTimeOfImport else {
                leftOut()
                return true
            }
            return page.pass { body(row) }
        }
    }

    /// Reads the log itself, in its order, while the index is being built.
    private func findWithoutIndex(
        _ query: RowQuery, in ledger: Ledger, withContent: Bool, _ body: (EventRow) -> Bool
    ) throws {
        let isHeard = by == .heard && query.hasTimes
        let order = EventOrder(
            by: .arrival, since: isHeard ? nil : query.since, until: isHeard ? nil : query.until, newestFirst: query.newestFirst)
        let selection = try selection.selection(in: ledger)
        let number = try source.map { try EventRows.source($0, EventRows.sourceNames(ledger)) }
        var page = Page(query)
        guard !page.isFull else { return }
        try EventReading(ledger, with: withContent ? [.named, .content] : .named).visit(order) { row in
            guard isChosen(row, number), selection?.selects(row.packet, channel: row.channel, named: row.named) ?? true else {
                return true
            }
            if isHeard {
                let isWanted = query.since.map { $0 <= row.heard } ?? true && query.until.map { row.heard < $0 } ?? true
                guard isWanted, !row.isTimeOfImport else { return true }
            }
            return page.pass { body(row) }
        }
    }
}
