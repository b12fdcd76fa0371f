import Foundation
import MeshLedger
import MeshSimulator
import Meshtastic
import ProtobufWire
import TestKit
import Testing

@testable import MeshCommands
@testable import MeshTables

/// What one SQL statement reads while the ledger goes on, and values that SQL lacks.
struct SQLSnapshots {
    private func rows(_ ledger: Ledger, _ text: String, each: () -> Void = {}) throws -> [[SQLValue]] {
        var rows: [[SQLValue]] = []
        let sqlite = try LinkedSQLite(ledger, LedgerOpener())
        defer { withExtendedLifetime(sqlite) {} }
        try sqlite.connection.run(text) { _ in
        } row: { row in
            rows.append(row)
            each()
            return true
        } end: {
        }
        return rows
    }

    /// Its views go on only when they are told to.
    private func ledgerThatWaits() async throws -> Ledger {
        var options = LedgerOptions(log: EventLogOptions(isDurable: false))
        let never = Duration.seconds(3_600)
        options.flushPolicy = FlushPolicy(quietPeriod: never, ceiling: never, immediateInterval: never)
        return try await Ledger.temporary(options: options)
    }

    private func append(_ packets: Int, of simulation: inout MeshSimulation, to ledger: Ledger) async throws {
        let source = try await ledger.log.source(named: "simulated")
        var batch = EventBatch()
        for _ in 0..<packets {
            batch.append(NewEvent(simulation.next().envelope, encoding: .serviceEnvelope, source: source))
        }
        try await ledger.log.append(batch)
    }

    @Test(.timeLimit(.minutes(1)))
    func `packets, receptions and entries of the index are of one moment, though the index goes on meanwhile`() async throws {
        let ledger = try await ledgerThatWaits()
        var simulation = MeshSimulation(SimulationOptions(seed: 4, nodes: 12))
        try await append(200, of: &simulation, to: ledger)
        try await ledger.catchUp()
        // The log has these, the index does not yet.
        try await append(200, of: &simulation, to: ledger)

        let counts = ["packets", "receptions", "packet_events", "events"].map { table in
            let number = ["packets": "first_sequence"][table] ?? "sequence"
            return "(SELECT count(*) FROM \(table) WHERE \(number) > 0 * outside.number)"
        }
        let text = "SELECT \(counts.joined(separator: ", ")) FROM nodes outside LIMIT 3"
        let found = try rows(ledger, text) {
            let done = DispatchSemaphore(value: 0)
            Task.detached {
                await #expect(throws: Never.self) { try await ledger.catchUp() }
                done.signal()
            }
            done.wait()
        }
        #expect(found.count == 3 && Set(found).count == 1, "\(found)")
        let later = try rows(ledger, text)
        #expect(later.first?.first != found.first?.first, "the index did not go on")
        try await ledger.close()
    }

    @Test(.timeLimit(.minutes(1)))
    func `statements that overlap read each view as of one event, and others that they add as of one, too`() async throws {
        let ledger = try await ledgerThatWaits()
        var simulation = MeshSimulation(SimulationOptions(seed: 5, nodes: 12))
        try await append(300, of: &simulation, to: ledger)
        try await ledger.catchUp()
        let sqlite = try LinkedSQLite(ledger, LedgerOpener())
        defer { withExtendedLifetime(sqlite) {} }
        func one(_ text: String, each: () throws -> Void = {}) throws -> [SQLValue] {
            var found: [SQLValue] = []
            try sqlite.connection.run(
                text, begin: { _ in },
                row: { row in
                    found += row
                    try each()
                    return true
                }, end: {})
            return found
        }
        let before = try one("SELECT max(checkpoint) FROM nodes")
        try await append(300, of: &simulation, to: ledger)
        try await ledger.catchUp()
        let text =
            "SELECT (SELECT max(checkpoint) FROM nodes), (SELECT max(checkpoint) FROM positions), "
            + "(SELECT max(checkpoint) FROM telemetry_device)"
        let last = SQLValue.integer(600)
        #expect(try one(text) == [last, last, last] && before != [last])
        try await append(300, of: &simulation, to: ledger)
        var inner: [SQLValue] = []
        _ = try one("SELECT number FROM nodes LIMIT 1") {
            let done = DispatchSemaphore(value: 0)
            Task.detached {
                await #expect(throws: Never.self) { try await ledger.catchUp() }
                done.signal()
            }
            done.wait()
            inner = try one(text)
        }
        #expect(inner == [last, .integer(900), .integer(900)], "\(inner)")
        #expect(try one(text) == [SQLValue](repeating: .integer(900), count: 3))
        try await ledger.close()
    }

    @Test func `of ledgers as of earlier points in time, the one that was not used for longest is given up`() async throws {
        let ledger = try await Ledger.temporary(options: LedgerOptions(log: EventLogOptions(isDurable: false)))
        var simulation = MeshSimulation(SimulationOptions(seed: 6, nodes: 12))
        try await append(20, of: &simulation, to: ledger)
        try await ledger.catchUp()
        let opener = LedgerOpener()
        func past(_ sequence: UInt64) throws -> Ledger { try opener.past(of: ledger, .sequence(sequence)) }
        let (first, second) = (try past(1), try past(2))
        for sequence in 3...4 as ClosedRange<UInt64> { _ = try past(sequence) }
        #expect(try past(1) === first)
        _ = try past(5)
        #expect(try past(1) === first && past(2) !== second)
        await opener.closePast()
        try await second.close()
        try await ledger.close()
    }

    @Test func `numbers from 2^63 on, which SQL lacks, are null, and those below are exact`() async throws {
        let ledger = try await Ledger.temporary(options: LedgerOptions(log: EventLogOptions(isDurable: false)))
        let source = try await ledger.log.source(named: "made")
        let numbers: [UInt64] = [5, 1 << 63 - 1, 1 << 63, .max]
        for (place, number) in numbers.enumerated() {
            var writer = WireWriter()
            writer.message(1) { packet in
                packet.fixed32(1, 7)
                packet.fixed32(2, .max)
                packet.message(4) { data in
                    data.varint(1, 67)
                    data.message(2) { telemetry in
                        telemetry.fixed32(1, 1_760_000_000 + UInt32(place))
                        telemetry.message(8) { $0.varint(2, number) }
                    }
                }
                packet.fixed32(6, UInt32(place + 1))
            }
            writer.string(2, "LongFast")
            writer.string(3, "!aabbccdd")
            try await ledger.log.append(NewEvent(writer.bytes, encoding: .serviceEnvelope, source: source))
        }
        try await ledger.catchUp()
        let text = "SELECT freemem_bytes FROM telemetry_host ORDER BY time"
        #expect(try rows(ledger, text) == [[.integer(5)], [.integer(.max)], [.null], [.null]])
        try await ledger.close()
    }

    @Test func `quarantine and packet_events have the rows of the library, and find them by event`() async throws {
        let ledger = try await Ledger.temporary(options: LedgerOptions(log: EventLogOptions(isDurable: false)))
        var simulation = MeshSimulation(SimulationOptions(seed: 9, nodes: 12, badPerMille: 100))
        try await append(400, of: &simulation, to: ledger)
        try await ledger.catchUp()
        var indexed: [[SQLValue]] = []
        try ledger.forEachIndexedEvent { event in
            indexed.append([.integer(Int64(event.sequence)), .integer(event.isRepeat ? 1 : 0)])
        }
        #expect(try rows(ledger, "SELECT sequence, is_repeat FROM packet_events") == indexed && !indexed.isEmpty)
        #expect(try rows(ledger, "SELECT rowid FROM packet_events WHERE sequence IN (3, 4) OR rowid = 5").count == 3)
        let kept = try ledger.maintenance.quarantine()
        let listed = try rows(ledger, "SELECT view, sequence, reason FROM quarantine")
        #expect(listed == kept.map { [.text($0.view), .integer(Int64($0.sequence)), .text($0.reason)] } && !listed.isEmpty)
        #expect(try rows(ledger, "SELECT DISTINCT rowid FROM quarantine").count == kept.count)
        let first = try #require(kept.first?.sequence)
        #expect(
            try rows(ledger, "SELECT view FROM quarantine WHERE sequence = \(first)").count
                == kept.count { $0.sequence == first })
        try await ledger.close()
    }
}
