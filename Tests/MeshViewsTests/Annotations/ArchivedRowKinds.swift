import EventLog
import Foundation
import MeshLedger
import Meshtastic
import Projections
import ProtobufWire
import TestKit
import Testing
import ViewQuery

/// Rows of every kind are hidden by events and come back as they were.
struct ArchivedRowKinds {
    private static let start: UInt32 = 1_780_000_000

    /// A ledger in which each table has rows.
    private static func ledger() async throws -> Ledger {
        let ledger = try await Ledger.temporary()
        let source = try await ledger.log.source(named: "test")
        var events = RandomPackets().packets(500, seed: 8).map { $0.event(source) }
        for (id, kind) in [(UInt32(900), UInt32(2)), (901, 3), (902, 14)] {
            var writer = WireWriter()
            writer.fixed32(1, start)
            writer.message(kind) { $0.varint(1, 77) }
            events.append(
                MeshPacketBuilder(from: 5_001, id: id, rxTime: start + id, port: Port.telemetry, payload: writer.bytes).event(
                    source))
        }
        events.append(RadioFrame.event(RadioFrame.myInfo(5_001, target: "tbeam"), source, at: start))
        events.append(RadioFrame.event(RadioFrame.config(6, 7, 3), source, at: start))
        _ = try await ledger.log.append(events)
        try await ledger.catchUp()
        return ledger
    }

    private func check<Row: QueryRow & Equatable>(_ type: Row.Type, _ ledger: Ledger) async throws {
        let all = FetchDescriptor<Row>()
        let before = try ledger.fetch(all)
        let first = try #require(before.first, "no rows of \(Row.table)")
        let naming = RowNaming<Row>()
        let chosen = [first, before[before.count / 2]].map { naming.name(of: $0) }
        func isChosen(_ row: Row) -> Bool { chosen.contains(naming.name(of: row)) }
        let rest = before.filter { !isChosen($0) }
        let head = ledger.log.head
        let column = try #require(Row.columns.first { !$0.isKey }).name
        let keeps = Row.self != MessageRow.self && Row.self != NodeRow.self
        let position = try ledger.changes.position(of: ArchivedRow.view)
        let events = try await ledger.annotations.record(
            ledger.annotations.archival(of: before.filter(isChosen), keeping: keeps ? [column] : []))
        #expect(ledger.log.head > head)

        #expect(try ledger.fetch(all) == rest, "\(Row.table)")
        #expect(try ledger.fetchCount(all) == rest.count && ledger.fetchIdentifiers(all).count == rest.count, "\(Row.table)")
        #expect(try ledger.snapshot { try $0.fetch(all) } == rest, "\(Row.table)")
        var enumerated = 0
        try await ledger.enumerate(all) { _ in enumerated += 1 }
        #expect(enumerated == rest.count, "\(Row.table)")
        var streamed = 0
        for try await _ in ledger.stream(all) { streamed += 1 }
        #expect(streamed == rest.count, "\(Row.table)")
        var whole = all
        whole.includesArchived = true
        #expect(try ledger.fetchCount(whole) == before.count, "\(Row.table)")

        if keeps {
            // K5: what is gone is reported among the changes, with its name and what was to be kept.
            let changes = try ledger.changes.fetch(of: ArchivedRow.view, since: position).changes
            let rows = changes.compactMap { change in
                change.value.flatMap { ArchivedRow(key: change.key.rawSpan, value: $0.rawSpan) }
            }
            #expect(
                Set(rows.map(\.name)) == Set(chosen)
                    && rows.allSatisfy { $0.table == Row.table && events.contains(EventSequence($0.sequence)) })
            #expect(rows.allSatisfy { $0.kept.hasPrefix("{\"\(column)\":") }, "\(rows.map(\.kept))")
        }
        // A replay comes to the same, and as of the event before nothing was hidden.
        try await ledger.maintenance.rebuild()
        #expect(try ledger.fetch(all) == rest, "\(Row.table) after a rebuild")
        let then = try ledger.asOf(.sequence(events.lowerBound.rawValue - 1))
        #expect(try then.fetchCount(all) == before.count, "\(Row.table) as of then")
        try await then.close()

        _ = try await ledger.annotations.restore(rows: all)
        #expect(try ledger.fetch(all) == before, "\(Row.table) restored")
        #expect(try await ledger.annotations.restore(rows: all) == nil)
    }

    @Test(.timeLimit(.minutes(20)))
    func `S14 K5 G23: rows of every kind are archived, told with what was kept, and restored as before`()
        async throws
    {
        let ledger = try await Self.ledger()
        for row in Ledger.listedRows {
            guard let row = row as? any (ListedRow & Equatable).Type else {
                Issue.record("\(row) is not Equatable")
                continue
            }
            try await check(row, ledger)
        }
        try await ledger.close()
    }

    @Test func `S14: the lists of each kind hide what is archived, and an erased node leaves nothing of it behind`() async throws
    {
        let ledger = try await Self.ledger()
        func count<Row: ListedRow>(_: Row.Type) throws -> Int {
            var count = 0
            try Row.visit(in: ledger, of: nil, RowQuery()) { count += $0.count }
            return count
        }
        // Nodes and messages have marks of their own.
        let rows = Ledger.listedRows.filter { $0 != NodeRow.self && $0 != MessageRow.self }
        func counts() throws -> [Int] { try rows.map { try count($0) } }
        let before = try counts()
        #expect(before.allSatisfy { $0 > 0 }, "\(before)")
        func first<Row: QueryRow>(_ type: Row.Type) throws -> [Annotation] {
            try ledger.annotations.archival(of: ledger.fetch(FetchDescriptor<Row>(fetchLimit: 1)))
        }
        let annotations = try rows.flatMap { try first($0) }
        let events = try await ledger.annotations.record(annotations)
        #expect(try counts() == before.map { $0 - 1 })
        for sequence in stride(from: events.upperBound.rawValue, through: events.lowerBound.rawValue, by: -1) {
            try await ledger.annotations.revert(EventSequence(sequence))
        }
        #expect(try counts() == before)

        let position = try #require(try ledger.positions(of: nil, RowQuery(newestFirst: false)).first)
        let node = position.node
        try await ledger.annotations.archive(rows: FetchDescriptor<PositionRow>(predicate: #Predicate { $0.node == node }))
        #expect(try ledger.positions(of: node).isEmpty && !ledger.fetch(FetchDescriptor<ArchivedRow>()).isEmpty)
        _ = try await ledger.erasure.erase(.node(node), reason: "test")
        try await ledger.catchUp()
        #expect(try ledger.fetch(FetchDescriptor<ArchivedRow>()).isEmpty)
        try await ledger.close()
    }

    @Test func `what cannot be archived is refused, and nothing is written`() async throws {
        let ledger = try await Self.ledger()
        let head = ledger.log.head
        let refused: [Annotation] = [
            .archive(RowNames(table: "nowhere", names: [[1]])), .archive(RowNames(table: "positions", names: [])),
            .archive(RowNames(table: "positions", names: [[]])), .archive(RowNames(table: "nodes", names: [[0, 0, 0, 1]])),
            .archive(RowNames(table: "positions", names: [[UInt8](repeating: 1, count: 121)])),
            .refer(RowNames(table: "nodes", names: [[1]]), ReferenceChange("", .set, table: "nodes", targets: [[1]])),
            .refer(RowNames(table: "nodes", names: [[1]]), ReferenceChange("x", .append, table: "nodes", targets: [])),
            .refer(RowNames(table: "nodes", names: [[1]]), ReferenceChange("x", .set, table: "nowhere", targets: [[1]])),
        ]
        for annotation in refused { await #expect(throws: LedgerError.self) { try await ledger.annotations.record(annotation) } }
        await #expect(throws: LedgerError.self) {
            try await ledger.annotations.archive(rows: FetchDescriptor<PositionRow>(), keeping: ["nothing"])
        }
        #expect(ledger.log.head == head)
        // Bytes that say none of it are no annotation.
        for count in 0..<60 {
            var random = SeededGenerator(seed: UInt64(count))
            _ = Annotation(payload: random.bytes(count).rawSpan)
        }
        let whole = Annotation.refer(
            RowNames(table: "nodes", names: [[1, 2]], nodes: [7]),
            ReferenceChange("x", .append, table: "positions", targets: [[3], [4]]))
        #expect(Annotation(payload: whole.payload.rawSpan) == whole)
        for length in 0..<whole.payload.count { _ = Annotation(payload: Array(whole.payload.prefix(length)).rawSpan) }
        try await ledger.close()
    }
}
