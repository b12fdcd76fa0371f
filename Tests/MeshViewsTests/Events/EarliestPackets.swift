import EventLog
import Foundation
import MeshLedger
import Meshtastic
import Synchronization
import TestKit
import Testing

/// The oldest packets first: those at the beginning are found without the others.
struct EarliestPackets {
    /// Over three blocks of the index, in no order of time: few senders and ids, so that receptions of a packet are far apart in the log,
    /// ids are used again, and contents contradict each other; some events of unknown times, some that are no packets.
    private func ledger(_ random: inout SeededGenerator) async throws -> Ledger {
        let now: Int64 = 1_780_000_000
        let appends = Atomic(0)
        let ledger = try await Ledger.temporary(
            options: LedgerOptions(
                log: EventLogOptions(clock: { Timestamp(seconds: now + Int64(appends.load(ordering: .relaxed))) })))
        let source = try await ledger.log.source(named: "mesh")
        var events: [NewEvent] = []
        for index in 0..<36_000 {
            let heard = now - Int64.random(in: 1_000...400_000, using: &random)
            var event =
                if index % 997 == 0 { NewEvent([1, 2, 3], encoding: PayloadEncoding(rawValue: 200), source: source) } else {
                    MeshPacketBuilder(
                        from: 1_001 + UInt32.random(in: 0..<9, using: &random), id: UInt32.random(in: 0..<900, using: &random),
                        rxTime: 0, port: Port.text, payload: [UInt8(ascii: "a") + UInt8.random(in: 0..<2, using: &random)],
                        snr: Float.random(in: 1...9, using: &random)
                    ).event(source)
                }
            event.reception = index % 31 == 0 ? .recorded(Timestamp(seconds: 0)) : .recorded(Timestamp(seconds: heard))
            events.append(event)
        }
        for start in stride(from: 0, to: events.count, by: 4_000) {
            appends.add(60, ordering: .relaxed)
            _ = try await ledger.log.append(Array(events[start..<min(start + 4_000, events.count)]))
        }
        try await ledger.catchUp()
        return ledger
    }

    private func rows(_ ledger: Ledger, _ order: EventOrder, most: Int = .max) throws -> [PacketRow] {
        var rows: [PacketRow] = []
        try ledger.forEachPacket(order) { row in
            rows.append(row)
            return rows.count < most
        }
        return rows
    }

    @Test(arguments: UInt64(1)...2, [EventOrder.Clock.heard, .arrival])
    func `they are those that come last in the other order`(seed: UInt64, clock: EventOrder.Clock) async throws {
        var random = SeededGenerator(seed: seed)
        let ledger = try await ledger(&random)
        let all = try rows(ledger, EventOrder(by: clock))
        #expect(all.contains(where: \.hasConflict) && all.contains { $0.receptions.count > 2 })
        #expect(try rows(ledger, EventOrder(by: clock, newestFirst: false)) == all.reversed(), "seed \(seed)")
        for most in [1, 40, 200] {
            let first = try rows(ledger, EventOrder(by: clock, newestFirst: false), most: most)
            #expect(first == all.suffix(most).reversed(), "seed \(seed)")
        }
        func time(_ row: PacketRow) -> Timestamp? { clock == .heard ? row.heard : row.receptions.first?.arrival }
        if let since = time(all[all.count / 2]), let until = time(all[clock == .heard ? all.count / 2 - 20 : all.count / 4]) {
            for until in [nil, until] {
                // Newest first, packets that began before the times come last, wherever their first reception within them is.
                let window = try rows(ledger, EventOrder(by: clock, since: since, until: until))
                let expected = clock == .heard ? window.reversed() : window.sorted { $0.firstSequence < $1.firstSequence }
                let found = try rows(ledger, EventOrder(by: clock, since: since, until: until, newestFirst: false))
                #expect(found == expected && !found.isEmpty, "seed \(seed): \(found.count) of \(expected.count)")
            }
        }
        try await ledger.close()
    }

    @Test(arguments: [EventOrder.Clock.heard, .arrival])
    func `the others are read when the order reaches them, and the last ones never if fewer are wanted`(
        clock: EventOrder.Clock
    ) async throws {
        let folder = try TemporaryFolder()
        let ledger = try await Ledger.create(at: folder.path + "/ledger")
        let source = try await ledger.log.source(named: "mesh")
        func text(_ number: Int) -> [UInt8] { Array("packet number \(number) of the test".utf8) }
        var batch = EventBatch()
        for index in 0..<36_000 {
            let packet = MeshPacketBuilder(
                from: 1_001 + UInt32(index % 9), id: UInt32(index + 1), rxTime: 0, port: Port.text, payload: text(index))
            var event = packet.event(source)
            event.reception = .recorded(Timestamp(seconds: 1_780_000_000 + Int64(index)))
            batch.append(event)
        }
        try await ledger.log.append(batch)
        try await ledger.catchUp()
        try flip(text(35_000), in: ledger.path + "/log/1/data.mdb")
        let order = EventOrder(by: clock, newestFirst: false)
        #expect(try rows(ledger, order, most: 20_000).map(\.firstSequence) == Array(1...20_000))
        #expect(throws: (any Error).self, "the damage is read") { try rows(ledger, order) }
        try await ledger.close()
    }

    /// Flips a bit wherever the bytes lie in a file.
    private func flip(_ bytes: [UInt8], in path: String) throws {
        let data = try Data(contentsOf: URL(filePath: path))
        let file = try #require(FileHandle(forUpdatingAtPath: path))
        var rest = data.startIndex..<data.endIndex
        while let found = data.range(of: Data(bytes), in: rest) {
            try file.seek(toOffset: UInt64(found.lowerBound))
            try file.write(contentsOf: [data[found.lowerBound] ^ 1])
            rest = found.upperBound..<data.endIndex
        }
        try file.close()
    }
}
