import Foundation
import MeshLedger
import TestKit
import Testing

@testable import ViewQuery

/// Single properties of the rows of all views.
@Suite(.timeLimit(.minutes(40))) struct ChosenColumns {
    /// - Returns: how many columns are decoded without the rest of their rows.
    private static func check<Row: QueryRow>(_ type: Row.Type, _ ledger: Ledger) throws -> Int {
        let whole = try ledger.fetch(FetchDescriptor<Row>())
        #expect(!whole.isEmpty || [RadioRow.table, UnknownTelemetryRow.table].contains(Row.table), "\(Row.table)")
        var chosen = 0
        for column in Row.columns {
            var one = FetchDescriptor<Row>()
            one.propertiesToFetch = [column.keyPath]
            #expect(
                try ledger.fetch(one).map { column.json(of: $0) } == whole.map { column.json(of: $0) },
                "\(column.name) of \(Row.table)")
            if try ledger.explain(one).decodesChosen { chosen += 1 }
        }
        return chosen
    }

    @Test func `K20: each property of the rows of all views is the same when only it is decoded`() async throws {
        let ledger = try await Asking.ledger(events: 4_000)
        var chosen: [String: Int] = [:]
        for row in Ledger.listedRows { chosen[row.table] = try Self.check(row, ledger) }
        #expect(chosen[NodeRow.table] == NodeRow.columns.count - 1)
        #expect(chosen[PositionRow.table] == PositionRow.columns.count)
        #expect(chosen[TelemetryRow.table] == TelemetryRow.columns.count)
        #expect(chosen[MessageRow.table] == MessageRow.columns.count)
        for row in [WaypointRow.table, TraceRouteRow.table, LinkRow.table, GatewayRow.table, NodeChangeRow.table] {
            #expect(chosen[row] ?? 0 > 10, "\(row)")
        }
        try await ledger.close()
    }

    @Test func `K20: chosen properties come as tuples, and whole rows where relations need them`() async throws {
        let ledger = try await Asking.ledger()
        var long = FetchDescriptor<MessageRow>(
            predicate: #Predicate { $0.text.count > 12 }, sortBy: [SortDescriptor(\.time, order: .reverse)], fetchLimit: 25)
        let rows = try ledger.fetch(long)
        let pairs = try ledger.select(\MessageRow.from, \MessageRow.text, of: long)
        #expect(rows.count == 25 && pairs.map(\.0) == rows.map(\.from) && pairs.map(\.1) == rows.map(\.text))
        let names = try ledger.select(\NodeRow.longName)
        #expect(try names == ledger.fetch(FetchDescriptor<NodeRow>()).map(\.longName))
        long.propertiesToFetch = [\.text]
        #expect(try ledger.fetch(long).allSatisfy { $0.channel.isEmpty })
        for (row, senders) in try ledger.fetch(long, with: MessageRow.sender) {
            #expect(senders.map(\.number) == [row.from] && !row.text.isEmpty)
        }
        #expect(try ledger.expand(long, [.rows]) == ledger.expand(long.whole, [.rows]))
        try await ledger.close()
    }
}
