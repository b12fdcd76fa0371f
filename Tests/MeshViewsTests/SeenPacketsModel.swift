import Projections
import TestKit
import Testing

@testable import MeshViews

struct SeenPacketsModel {
    private struct Model {
        var first: [UInt64: (time: UInt32, sequence: UInt64, isReadable: Bool)] = [:]

        mutating func place(_ packet: UInt64, _ time: UInt32, _ sequence: UInt64, _ isReadable: Bool) -> (UInt64, Bool, Bool) {
            if let known = first[packet],
                time == 0 || known.time == 0 || max(time, known.time) - min(time, known.time) <= 3_600
            {
                let turns = isReadable && !known.isReadable
                if turns { first[packet]?.isReadable = true }
                if known.time == 0 { first[packet]?.time = time }
                return (known.sequence, false, turns)
            }
            first[packet] = (time, sequence, isReadable)
            return (sequence, true, isReadable)
        }
    }

    @Test func `packets are told apart as a simple model does, also after being restored anywhere`() {
        for seed in UInt64(1)...20 {
            var random = SeededGenerator(seed: seed)
            var seen = SeenPackets()
            var model = Model()
            var log: [Carry.Record] = []
            for sequence in UInt64(1)...4_000 {
                let packet = UInt64.random(in: 0..<300, using: &random)
                let isTimeKnown = Int.random(in: 0..<5, using: &random) > 0
                let time = isTimeKnown ? UInt32.random(in: 10_000..<40_000, using: &random) : 0
                let isReadable = Bool.random(using: &random)
                let verdict = seen.place(
                    packet: packet, time: time, sequence: sequence, isReadable: isReadable, isWindowless: false, changes: &log)
                let wanted = model.place(packet, time, sequence, isReadable)
                #expect(
                    (verdict.firstSequence, verdict.isFirstReception, verdict.isFirstReadable) == wanted,
                    "seed \(seed), sequence \(sequence)")
                if Int.random(in: 0..<500, using: &random) == 0 {
                    seen = SeenPackets()
                    seen.restore(log)
                }
            }
        }
    }

    @Test func `memory is bounded, and what is within the bounds is kept`() {
        var seen = SeenPackets()
        var changes: [Carry.Record] = []
        for sequence in UInt64(1)...200_000 {
            let time = UInt32(sequence / 10)
            let verdict = seen.place(
                packet: sequence, time: time, sequence: sequence, isReadable: true, isWindowless: false, changes: &changes)
            #expect(verdict.isFirstReception)
        }
        #expect(seen.count <= 36_020 && seen.count >= 36_000)
        let again = seen.place(
            packet: 199_000, time: 20_000, sequence: 200_001, isReadable: true, isWindowless: false, changes: &changes)
        #expect(!again.isFirstReception && again.firstSequence == 199_000)
    }

    @Test func `of more than a million packets within an hour the newest million are remembered`() {
        var seen = SeenPackets()
        let most = UInt64(SeenPackets.mostKept)
        var changes: [Carry.Record] = []
        func isNew(_ packet: UInt64, at sequence: UInt64) -> Bool {
            seen.place(packet: packet, time: 7, sequence: sequence, isReadable: true, isWindowless: false, changes: &changes)
                .isFirstReception
        }
        for sequence in 1...most + 10 {
            if !isNew(sequence, at: sequence) { Issue.record("packet \(sequence) was heard before") }
            changes.removeAll(keepingCapacity: true)
        }
        #expect(seen.count == SeenPackets.mostKept)
        #expect(!isNew(11, at: most + 11) && !isNew(most, at: most + 12))
        #expect(isNew(10, at: most + 13))
        #expect(isNew(11, at: most + 14))
        #expect(seen.count == SeenPackets.mostKept)
    }
}
