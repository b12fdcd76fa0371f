import EventLog
import MeshLedger
import MeshViews
import TestKit
import Testing

/// Lists that look rows up by indexes give the pages that reading all rows gives.
struct PagesOfLists {
    private let traffic = RandomPackets(ids: 1..<900, secondsApart: 0)

    private func ledger() async throws -> Ledger {
        let ledger = try await Ledger.temporary(options: LedgerOptions(log: EventLogOptions(isDurable: false)))
        let source = try await ledger.log.source(named: "test")
        _ = try await ledger.log.append(traffic.packets(4_000, seed: 21).map { $0.event(source) })
        try await ledger.catchUp()
        return ledger
    }

    private func queries(_ lists: [(inout RowQuery) -> Void]) -> [RowQuery] {
        var queries: [RowQuery] = []
        for (newestFirst, limit, offset) in [
            (true, 1, 0), (true, 7, 3), (false, 20, 0), (false, 5, 40), (true, .max, 0), (true, 0, 0),
        ] {
            for list in lists {
                var query = RowQuery(limit: limit, offset: offset, newestFirst: newestFirst)
                list(&query)
                queries.append(query)
            }
        }
        return queries
    }

    @Test func `messages of a node, and the newest of all, are the page of all messages`() async throws {
        let ledger = try await ledger()
        var all: [MessageRow] = []
        try ledger.forEachMessage { all.append($0) }
        let keys = all.compactMap { MessageKey($0) }
        try await ledger.annotations.record(.archive(Array(keys.prefix(60))), .read(Array(keys.dropFirst(30).prefix(400))))
        try await ledger.catchUp()
        var every = RowQuery(newestFirst: false)
        every.includesArchived = true
        all = []
        try ledger.forEachMessage(every) { all.append($0) }
        #expect(all.contains(where: \.isArchived) && all.contains(where: \.isRead))
        let middle = Timestamp(seconds: Int64(all[all.count / 2].time))
        let lists: [(inout RowQuery) -> Void] = [
            { _ in }, { $0.isRead = true }, { $0.isRead = false }, { $0.includesArchived = true }, { $0.since = middle },
            { $0.until = middle }, { $0.isIgnored = false }, { $0.isIgnored = true },
        ]
        for node in [nil, 5_003, 5_011, 77] as [UInt32?] {
            for query in queries(lists) {
                var wanted = all.filter { row in
                    let time = Timestamp(seconds: Int64(row.time))
                    return (node == nil || row.from == node || row.to == node)
                        && (query.includesArchived || !row.isArchived) && query.isRead.map { $0 == row.isRead } ?? true
                        && query.isIgnored != true && query.since.map { $0 <= time } ?? true
                        && query.until.map { time < $0 } ?? true
                }
                if query.newestFirst { wanted.reverse() }
                let page = Array(wanted.dropFirst(query.offset).prefix(query.limit))
                #expect(try ledger.messages(of: node, query) == page, "\(node ?? 0) \(query)")
            }
        }
        try await ledger.close()
    }

    @Test func `trace routes of a node are those of all that it requested or that trace it`() async throws {
        let ledger = try await ledger()
        let all = try ledger.traceRoutes()
        let middle = Timestamp(seconds: Int64(all[all.count / 2].time))
        for node in [5_003, 5_011, 77] as [UInt32] {
            for query in queries([{ _ in }, { $0.since = middle }, { $0.until = middle }]) {
                let wanted = try ledger.traceRoutes(
                    RowQuery(since: query.since, until: query.until, newestFirst: query.newestFirst)
                )
                .filter { $0.from == node || $0.to == node }
                let page = Array(wanted.dropFirst(query.offset).prefix(query.limit))
                let found = try ledger.traceRoutes(of: node, query)
                #expect(found.map(\.time) == page.map(\.time), "\(node) \(query)")
                // Those of one second come in the order of their keys.
                if query.limit == .max { #expect(Set(found.map(\.id)) == Set(page.map(\.id))) }
            }
            let relayed = try ledger.traceRoutes(of: node, through: 5_001)
            #expect(
                relayed.map(\.time)
                    == all.filter { ($0.from == node || $0.to == node) && ($0.route + $0.routeBack).contains(5_001) }.map(\.time))
        }
        try await ledger.close()
    }
}
