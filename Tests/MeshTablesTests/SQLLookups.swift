import EventLog
import MeshLedger
import QueryKit
import TestKit
import Testing

@testable import MeshCommands
@testable import MeshTables

/// Single packets and words in SQL, and statements beside retention.
@Suite(.timeLimit(.minutes(3)))
struct SQLLookups {
    @Test(arguments: [false, true])
    func `a packet and a reception found by their events are those of all`(_ isOfCapture: Bool) async throws {
        let proofs = try await SQLProofs(packets: 400, seed: isOfCapture ? 17 : 4, isRecorded: isOfCapture)
        for (table, column) in [("packets", "first_sequence"), ("receptions", "sequence"), ("packet_events", "sequence")] {
            let all = try proofs.rows("SELECT \(column), * FROM \(table) ORDER BY 1, 2, 3")
            let bySequence = Dictionary(grouping: all) { $0[0] }
            #expect(all.count > 100)
            for number in 0...402 as ClosedRange<Int64> {
                let found = try proofs.rows(
                    "SELECT \(column), * FROM \(table) WHERE \(column) = ? ORDER BY 1, 2, 3", [.integer(number)])
                #expect(found == bySequence[.integer(number)] ?? [], "\(table) \(number)")
            }
        }
        let joined = "SELECT count(*) FROM packets a JOIN packets b ON b.first_sequence = a.first_sequence AND b.id = a.id"
        #expect(try proofs.rows(joined) == proofs.rows("SELECT count(*) FROM packets"))
        let other = "SELECT count(*) FROM packets a JOIN packets b ON b.first_sequence = a.first_sequence AND b.id = a.id + 1"
        #expect(try proofs.rows(other) == [[.integer(0)]])
        try await proofs.ledger.close()
    }

    @Test func `words that are asked for twice must both occur; programs may ask whether as_of is null`() async throws {
        let proofs = try await SQLProofs(packets: 1_500, seed: 21)
        func count(_ condition: String) throws -> [[SQLValue]] {
            try proofs.rows("SELECT count(*) FROM messages WHERE \(condition)")
        }
        let pairs = [("home", "the"), ("who", "me"), ("who", "nowhere"), ("hears", "who")]
        for (one, two) in pairs {
            let both = try count("text MATCH '\(one) \(two)'")
            #expect(try count("text MATCH '\(one)' AND text MATCH '\(two)'") == both)
            #expect(try count("text MATCH '\(one)' AND text MATCH '\(two)' AND text MATCH '\(one)'") == both)
        }
        #expect(try count("text MATCH 'who' AND text MATCH 'me'") != [[.integer(0)]])
        #expect(try count("as_of IS NOT NULL") == [[.integer(0)]] && count("as_of IS NULL") == count("1"))
        #expect(try count("as_of = 300 AND as_of IS NOT NULL") == count("as_of = 300"))
        #expect(throws: (any Error).self) { try count("as_of < 300") }
        let facets = "SELECT as_of AS value, count(*) FROM (SELECT node, as_of FROM nodes) WHERE value IS NOT NULL GROUP BY value"
        #expect(try proofs.rows(facets).isEmpty)
        try await proofs.ledger.close()
    }

    @Test(arguments: ["events", "packets", "receptions"])
    func `a statement does not end as if it had read events that retention drops meanwhile`(_ table: String) async throws {
        let proofs = try await SQLProofs(packets: 3_000, seed: 3)
        let log = proofs.ledger.log
        let sqlite = try LinkedSQLite(proofs.ledger, LedgerOpener())
        defer { withExtendedLifetime(sqlite) {} }
        var (rows, failure): (Int, String?) = (0, nil)
        do {
            try sqlite.connection.run(
                "SELECT * FROM \(table)", begin: { _ in },
                row: { _ in
                    rows += 1
                    if rows == 1 { _ = try waiting { try await log.cut(through: EventSequence(2_560)) } }
                    return true
                }, end: {})
        } catch {
            failure = "\(error)"
        }
        #expect(failure?.contains("retention has dropped events while they were read, up to event 2560: run this again") == true)
        #expect(rows > 0 && rows < 1_000)
        let kept = try proofs.rows("SELECT count(*), min(sequence) FROM events")
        #expect(kept[0][1] == .integer(2_561))
        try await proofs.ledger.close()
    }

    private enum Walk: CaseIterable { case log, events, eventsSince, packets, packetsSince }

    @Test(arguments: Walk.allCases) private func `nor do lists and exports of packets and events`(_ walk: Walk) async throws {
        let proofs = try await SQLProofs(packets: 20_000, seed: 3)
        let ledger = proofs.ledger
        var order = EventOrder(by: .arrival, newestFirst: walk != .log)
        if [.eventsSince, .packetsSince].contains(walk) { order.since = Timestamp(seconds: 0) }
        var count = 0
        func cut() throws -> Bool {
            count += 1
            if count == 1 { _ = try waiting { try await ledger.log.cut(through: EventSequence(18_176)) } }
            return true
        }
        let failure = #expect(throws: LedgerError.self) {
            switch walk {
            case .packets, .packetsSince: try ledger.forEachPacket(order) { _ in try cut() }
            case .log:
                try EventReading(ledger).visitLog(order, offset: 0, limit: .max, make: Self.sequence) { _ in try cut() }
            case .events, .eventsSince: try EventReading(ledger).visit(order, make: Self.sequence) { _ in try cut() }
            }
        }
        #expect(failure?.code == .beyondRetention)
        try await ledger.close()
    }

    @Test func `a walk from the oldest event on has read what retention drops behind it, and one that is left asks for no more`()
        async throws
    {
        let proofs = try await SQLProofs(packets: 20_000, seed: 3)
        let ledger = proofs.ledger
        let order = EventOrder(by: .arrival, newestFirst: false)
        for (isLog, cut) in [(true, 2_560), (false, 5_120)] as [(Bool, UInt64)] {
            let kept = Int(ledger.log.head.rawValue - ledger.log.first.rawValue) + 1
            var read: [EventSequence] = []
            func part(_ made: [EventSequence]) throws -> Bool {
                read += made
                if read.count > 12_000, ledger.log.first.rawValue <= cut {
                    _ = try waiting { try await ledger.log.cut(through: EventSequence(cut)) }
                }
                return true
            }
            if isLog {
                try EventReading(ledger).visitLog(order, offset: 0, limit: .max, make: Self.sequence, part: part)
            } else {
                try EventReading(ledger).visit(order, make: Self.sequence, part: part)
            }
            #expect(read.count == kept && ledger.log.first == EventSequence(cut + 1))
        }
        var parts = 0
        try EventReading(ledger).visitLog(order, offset: 0, limit: .max, make: Self.sequence) { _ in
            parts += 1
            _ = try waiting { try await ledger.log.cut(through: EventSequence(18_176)) }
            return false
        }
        #expect(parts == 1)
        try await ledger.close()
    }

    private static let sequence: @Sendable (EventRows, EventHeader, RawSpan) -> EventSequence = { _, header, _ in header.sequence
    }
}
