import ArgumentParser
import EventLog
import MeshLedger
import MeshTables
import Meshtastic

struct PacketList: LiveList {
    static let about = ListDescription(
        name: "packets", abstract: "The packets that were heard, the newest first, each once, with its receivers.",
        discussion: """
            Receptions of a packet within an hour count as one packet. Those that retention has dropped are not listed. Times are those of the mesh: a packet was heard when its first
            receiver heard it. time_source names the clock: recorded (its file), else receiver (its clock), arrival (it was live), or import if there
            is no other; such packets are in no window of --since and --until, and are sorted by the time of their import. In `messages` and other rows, time_source describes the row's own time, for which the clocks of sender and receiver come first. With --by arrival, packets are selected and sorted by their arrival in the ledger. On a terminal a table shows 50 unless --limit says otherwise; in a pipe or a file it has all.
            With --follow, each packet is printed when it is first heard. The column content, shown then and by --columns, is what it contains.
            The columns snr, rssi and hops_away, for --columns, --where and the counts, are those of the reception with the best signal.

              meshledger packets --node '!19025c00' --limit 10
              meshledger packets --since 2025-09-10 --until 2025-09-11
              meshledger packets --gateway '!19025c00' --since '1h ago' --by arrival
              meshledger packets --where port=unreadable --sort receptions --reverse
              meshledger packets --since 1d --count-by node --limit 10
              meshledger packets --since 30d --count-by hour,port
              meshledger packets --node Rover --since 1d --bucket 1h --mean snr
              meshledger packets --follow
              meshledger packets show 4711
              meshledger packets receptions 2740310711
            """,
        noun: .init(
            abstract: "Each packet once, with its receivers and fields.", aliases: ["packet"],
            subcommands: [PacketShowCommand.self, ReceptionList.command]))

    @OptionGroup var selection: SelectionOptions
    @OptionGroup var following: FollowOption
    @Option(help: ArgumentHelp("The time by which packets are chosen and sorted: heard or arrival.", valueName: "clock"))
    var by = EventOrder.Clock.heard

    func columns(_ request: ListRequest) throws -> [Column<LivePacket>] {
        try storedColumns(request).map { $0.of { $1($0.packet) } }
    }

    /// The same of rows that are packets and nothing else.
    private func storedColumns(_ request: ListRequest) throws -> [Column<PacketRow>] {
        let name = Column<PacketRow>.nodeName("from_name", in: request.ledger, \.from)
        let columns = PacketRow.columns(by: by) + PacketRow.signalColumns + [name]
        guard request.options.wants("content", beside: columns) else { return columns }
        return columns + [try PacketRow.storedContentColumn(request.ledger)]
    }

    func liveColumns() -> [Column<LivePacket>] { LivePacket.columns(by: by) + LivePacket.signalColumns }

    func live(_ ledger: Ledger) -> (EventRow, Bool) -> LivePacket? {
        var heard = HeardPackets()
        return { row, isNew in
            guard let packet = row.packet, packet.hasPacket, packet.opening != .invalid, !row.header.isErased else { return nil }
            guard heard.isNew(row.identity, heard: row.isTimeOfImport ? nil : row.heard, content: row.print) || !isNew else {
                return nil
            }
            return LivePacket(row, packet)
        }
    }

    func write(_ request: ListRequest) throws {
        let request = request.withUsualLimit
        let times = request.options.times
        let isOfAll = times.since == nil && times.until == nil
        var (hasLeftOut, isEmpty) = (false, true)
        try request.writeWhileWanted(storedColumns(request), emptyNote: emptyNote, time: by == .heard ? "time" : "arrival") {
            names in
            guard isOfAll, try selection.selection(in: request.ledger) == nil, names.isSubset(of: ["from", "port", "channel"])
            else {
                return nil
            }
            isEmpty = false
            return try request.ledger.packetCounts().map { (PacketRow(of: $0.key), $0.value) }
        } total: {
            guard !isOfAll else {
                return try request.ledger.packetCount(selection.selection(in: request.ledger), within: .milliseconds(20))
            }
            return try RowPage.counted { take in try find(request.query.unpaged, in: request.ledger) { _ in take() } }
        } leftOut: { isChosen in
            guard by == .heard else { return nil }
            return try withoutActuallyEscaping(isChosen) { isChosen in
                try request.leftOutPackets(selection.selection(in: request.ledger), isSeen: hasLeftOut) {
                    isChosen($0)
                }
            }
        } _: { query, body in
            try find(query, in: request.ledger, leftOut: { hasLeftOut = true }) {
                isEmpty = false
                return body($0)
            }
        }
        let dropped = request.ledger.log.first.rawValue - 1
        if dropped > 0, LeftOutRows.isWorthReporting(isEmpty: isEmpty) {
            let what = dropped.counted("earlier event is", "earlier events are")
            StandardOutput.error("(\(what) no longer in the log; packets of which it has nothing else are not listed)")
        }
    }

    func visit(_ query: RowQuery, in ledger: Ledger, _ body: (LivePacket) -> Void) throws {
        try find(query, in: ledger) {
            body(LivePacket(packet: $0))
            return true
        }
    }

    private func find(
        _ query: RowQuery, in ledger: Ledger, leftOut: () -> Void = {}, _ body: (PacketRow) -> Bool
    ) throws {
        var page = Page(query)
        guard !page.isFull else { return }
        let order = EventOrder(
            by: by, since: query.since, until: query.until, newestFirst: query.newestFirst, try selection.selection(in: ledger))
        let needsTime = by == .heard && query.hasTimes
        try ledger.forEachPacket(order) { row in
            guard !needsTime || !row.isTimeOfImport else {
                leftOut()
                return true
            }
            return page.pass { body(row) }
        }
    }
}

extension ListRequest {
    /// On a terminal, a table of what may have millions of rows shows 50, unless --limit says otherwise.
    var withUsualLimit: ListRequest {
        var request = self
        if options.output.isTableOnTerminal, options.page.limit == nil, !options.groups.isGiven {
            request.options.page.limit = 50
        }
        return request
    }
}

extension ListRequest {
    /// The packets that no window has.
    /// - Parameter isSeen: whether some were seen already.
    func leftOutPackets(
        _ selection: EventSelection? = nil, isSeen: Bool = false, advice: String = LeftOutRows.byArrival,
        where isWanted: @escaping (PacketRow) -> Bool = { _ in true }
    ) throws -> LeftOutRows? {
        guard query.hasTimes else { return nil }
        return try LeftOutRows.counted("packet", isSeen: isSeen, advice: advice) { take in
            try ledger.forEachPacket(EventOrder(by: .arrival, since: query.since, selection)) {
                take($0.isTimeOfImport && isWanted($0))
            }
        }
    }
}
