import EventLog
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
}
