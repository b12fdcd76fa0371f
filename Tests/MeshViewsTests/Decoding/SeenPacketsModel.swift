import EventLog
import Meshtastic
import Projections
import TestKit
import Testing

@testable import MeshLedger
@testable import MeshViews

struct SeenPacketsModel {
    /// What FOLD.md says of a packet, written down plainly.
    private struct Model {
        struct Packet {
            var packet: UInt64
            var first: UInt64
            var time: UInt32
            var isReplayedState: Bool
            var isReadable = false
            var isLossy = false
            var plain: UInt32 = 0
            var port: UInt32 = 0
            var cipher: UInt32 = 0
            var row: (sequence: UInt64, time: UInt32, heard: UInt32) = (0, 0, 0)
            var receptions: [(gateway: UInt32, print: UInt32)] = []
        }

        /// Of each sender and mark, the one that was remembered last first.
        var packets: [[UInt64]: [Packet]] = [:]

        private static func key(_ packet: UInt64) -> [UInt64] {
            [packet >> 32, (packet & 0xffff_ffff) * 2_654_435_761 % (1 << 32) / 256]
        }

        private func fits(_ packet: Packet, _ new: SeenPackets.Hearing) -> (window: Bool, content: Bool) {
            guard packet.isReplayedState == new.isReplayedState else { return (false, false) }
            let isUnknown = new.time == 0 || packet.time == 0 || new.isReplayedState
            let distance = max(new.time, packet.time) - min(new.time, packet.time)
            var content = true
            if packet.plain != 0, new.print.plain != 0 {
                content = packet.isLossy != new.print.isLossy ? packet.port == new.print.shape : packet.plain == new.print.plain
            } else if packet.cipher != 0, new.print.cipher != 0 {
                content = packet.cipher == new.print.cipher
            }
            return (isUnknown || distance <= 3_600, content)
        }

        mutating func place(_ new: SeenPackets.Hearing) -> SeenPackets.Verdict {
            var twin: UInt64?
            let known = packets[Self.key(new.packet)] ?? []
            let ofID = known.indices.prefix(32).filter { known[$0].packet == new.packet }.prefix(8)
            let fitting = ofID.filter { fits(known[$0], new) == (true, true) }
            let same = fitting.first { index in
                !new.isReplayedState && known[index].receptions.contains { $0 == (new.gateway, new.print.reception) }
            }
            if let index = same ?? fitting.first { return hearAgain(new, index) }
            for packet in ofID.map({ known[$0] }) {
                if fits(packet, new).window, twin == nil, packet.time != 0, new.time != 0, !new.isReplayedState {
                    twin = packet.first
                }
            }
            var packet = Packet(packet: new.packet, first: new.sequence, time: new.time, isReplayedState: new.isReplayedState)
            _ = Self.learn(new, &packet)
            if !new.isReplayedState { packet.receptions = [(new.gateway, new.print.reception)] }
            packets[Self.key(new.packet)] = [packet] + known
            return SeenPackets.Verdict(
                firstSequence: new.sequence, isFirstReception: true, isFirstReadable: new.isReadable,
                laterTwins: twin.map { Self.later(than: $0, in: known) } ?? 0, hasTwin: twin != nil, twin: twin)
        }

        private static func later(than first: UInt64, in known: [Packet]) -> UInt8 {
            UInt8(min(known.prefix(32).filter { $0.first > first }.count, 15))
        }

        private static func learn(_ new: SeenPackets.Hearing, _ packet: inout Packet) -> Bool {
            let before = packet
            if packet.time == 0 { packet.time = new.time }
            if packet.cipher == 0 { packet.cipher = new.print.cipher }
            if new.isReadable {
                if !packet.isReadable || supersedes(new, packet) { packet.row = (new.sequence, new.rowTime, new.time) }
                if !packet.isReadable || packet.isLossy && !new.print.isLossy {
                    (packet.plain, packet.port, packet.isLossy) = (new.print.plain, new.print.shape, new.print.isLossy)
                }
                packet.isReadable = true
            }
            return (packet.time, packet.cipher, packet.plain) != (before.time, before.cipher, before.plain)
                || (packet.isReadable, packet.isLossy) != (before.isReadable, before.isLossy) || packet.row != before.row
        }

        private static func supersedes(_ new: SeenPackets.Hearing, _ packet: Packet) -> Bool {
            guard packet.isReadable, new.isReadable, !new.isReplayedState else { return false }
            if packet.isLossy != new.print.isLossy { return packet.isLossy }
            return new.time != 0 && (packet.row.heard == 0 || new.time < packet.row.heard)
        }

        private mutating func hearAgain(_ new: SeenPackets.Hearing, _ index: Int) -> SeenPackets.Verdict {
            var all = packets[Self.key(new.packet)] ?? []
            var packet = all[index]
            var verdict = SeenPackets.Verdict(firstSequence: packet.first)
            if !new.isReplayedState {
                let ofGateway = packet.receptions.filter { $0.gateway == new.gateway }
                verdict.isFirstOfGateway = ofGateway.isEmpty
                verdict.isRepeat = ofGateway.contains { $0.print == new.print.reception }
                if !verdict.isRepeat { packet.receptions.append((new.gateway, new.print.reception)) }
            }
            verdict.isFirstReadable = new.isReadable && !packet.isReadable
            verdict.wasReadable = packet.isReadable
            verdict.hasTwin = twins.contains(packet.first)
            if Self.supersedes(new, packet) {
                verdict.superseded = SupersededRow(sequence: packet.row.sequence, time: packet.row.time)
            }
            verdict.laterTwins = Self.later(than: packet.first, in: all)
            let isRenewed = Self.learn(new, &packet)
            all.remove(at: index)
            all.insert(packet, at: isRenewed ? 0 : index)
            packets[Self.key(new.packet)] = all
            return verdict
        }

        /// The packets that began beside another one.
        var twins: Set<UInt64> = []
    }

    /// Packets of two senders, whose ids have one mark each twelve.
    private static let packets: [UInt64] = {
        var inverse: UInt32 = 1
        for _ in 0..<5 { inverse &*= 2 &- 2_654_435_761 &* inverse }
        return (0..<300 as Range<UInt32>).map { number in
            let id = ((number / 24) << 8 | (number % 24) / 2) &* inverse
            return SeenPackets.key(number % 2, id)
        }
    }()

    private func hearing(_ sequence: UInt64, _ random: inout SeededGenerator) -> SeenPackets.Hearing {
        let isTimeKnown = Int.random(in: 0..<5, using: &random) > 0
        var hearing = SeenPackets.Hearing(
            packet: Self.packets[Int.random(in: 0..<300, using: &random)], sequence: sequence,
            time: isTimeKnown ? UInt32.random(in: 10_000..<40_000, using: &random) : 0,
            rowTime: UInt32.random(in: 1...9, using: &random), gateway: UInt32.random(in: 1...3, using: &random),
            isReadable: Bool.random(using: &random))
        hearing.isReplayedState = hearing.isReadable && Int.random(in: 0..<20, using: &random) == 0
        // Mostly the content that others of the id have.
        let content: UInt32 = Int.random(in: 0..<8, using: &random) == 0 ? 2 : 1
        if hearing.isReadable {
            hearing.print.plain = content
            hearing.print.shape = (Int.random(in: 0..<8, using: &random) == 0 ? 3 : 4) << 16
        }
        if !hearing.isReadable, Bool.random(using: &random) {
            hearing.print.cipher = content
            hearing.print.shape = 5 << 25
        }
        hearing.print.isLossy = !hearing.isReplayedState && Int.random(in: 0..<6, using: &random) == 0
        hearing.print.reception = UInt32.random(in: 1...3, using: &random)
        return hearing
    }

    @Test func `packets are distinguished as a simple model does, also after being restored anywhere`() {
        for seed in UInt64(1)...20 {
            var random = SeededGenerator(seed: seed)
            var seen = SeenPackets()
            var model = Model()
            var log = StageState()
            for sequence in UInt64(1)...4_000 {
                let hearing = hearing(sequence, &random)
                let verdict = seen.place(hearing, changes: &log)
                let wanted = model.place(hearing)
                if wanted.isFirstReception, wanted.hasTwin { model.twins.insert(sequence) }
                #expect(verdict == wanted, "seed \(seed), \(hearing)")
                guard verdict == wanted else { break }
                if Int.random(in: 0..<500, using: &random) == 0 {
                    seen = SeenPackets()
                    seen.restore(log)
                }
            }
        }
    }

    private func hearing(of packet: UInt64, at time: UInt32, _ sequence: UInt64) -> SeenPackets.Hearing {
        SeenPackets.Hearing(packet: packet, sequence: sequence, time: time, isReadable: true)
    }

    @Test func `a packet is compared with the eight of its sender and id that were remembered last`() {
        var (seen, changes) = (SeenPackets(), StageState())
        func first(_ content: UInt32, at sequence: UInt64) -> UInt64 {
            var hearing = hearing(of: 7, at: 10_000, sequence)
            hearing.print.plain = content
            return seen.place(hearing, changes: &changes).firstSequence
        }
        for number in UInt64(1)...9 { #expect(first(UInt32(number), at: number) == number) }
        #expect(first(1, at: 10) == 10)  // it was the ninth
        #expect(first(3, at: 11) == 3)
        #expect(first(2, at: 12) == 12)
    }

    @Test func `copies of a packet whose id the very first packet has are in conflict with it, too`() {
        var (seen, changes) = (SeenPackets(), StageState())
        func hasTwin(_ content: UInt32, at sequence: UInt64) -> Bool {
            var hearing = hearing(of: 7, at: 10_000, sequence)
            hearing.print.plain = content
            return seen.place(hearing, changes: &changes).hasTwin
        }
        #expect(!hasTwin(1, at: 1) && hasTwin(2, at: 2) && hasTwin(2, at: 3))
    }

    @Test func `memory is bounded, and what is within the bounds is kept`() {
        var seen = SeenPackets()
        var changes = StageState()
        for sequence in UInt64(1)...200_000 {
            let verdict = seen.place(hearing(of: sequence, at: UInt32(sequence / 10), sequence), changes: &changes)
            #expect(verdict.isFirstReception)
        }
        #expect(seen.count <= 36_020 && seen.count >= 36_000)
        let again = seen.place(hearing(of: 199_000, at: 20_000, 200_001), changes: &changes)
        #expect(!again.isFirstReception && again.firstSequence == 199_000)
    }

    @Test func `what is remembered no more need not be stored any longer`() async throws {
        let log = try EventLog.temporary()
        let event = try await log.append(
            NewEvent([], encoding: PayloadEncoding(.meshPacket), source: try await log.source(named: "test")))
        let stage = MeshStage(log: log, keyring: .standard)
        var (state, changes) = (stage.initialState(), StageState())
        for sequence in UInt64(1)...30_000 {
            _ = state.seen.place(hearing(of: sequence, at: UInt32(sequence), sequence), changes: &changes)
        }
        var batch = try stage.decode(event...event)
        stage.resolve(&batch, state: &state)
        #expect(state.seen.oldestRecord > 1 && batch.stageState.oldestRecord == state.seen.oldestRecord)
        #expect(batch.stageState.oldestReception == state.seen.receptions.oldestRecord)
        await log.close()
    }

    @Test func `as many forged packets of one id as there may be are restored, each with its own receptions`() {
        let most: UInt64 = 400_000
        var (seen, log) = (SeenPackets(), StageState())
        for sequence in 1...most {
            var forged = hearing(of: 7, at: 10_000, sequence)
            forged.print.plain = UInt32(sequence)
            #expect(seen.place(forged, changes: &log).isFirstReception)
        }
        seen = SeenPackets()
        seen.restore(log)
        #expect(seen.count == Int(most))
        for number in (most - 5)...most {
            var again = hearing(of: 7, at: 10_001, most + number)
            again.print.plain = UInt32(number)
            let verdict = seen.place(again, changes: &log)
            #expect(verdict.firstSequence == number && verdict.isRepeat)
        }
    }

    @Test func `an hour after a flood its memory is given back, and what is kept is recognised`() {
        var seen = SeenPackets()
        var changes = StageState()
        let most: UInt64 = 300_000
        for sequence in 1...most {
            var hearing = hearing(of: sequence, at: 10_000, sequence)
            hearing.rowTime = hearing.time
            _ = seen.place(hearing, changes: &changes)
        }
        #expect(seen.capacity.packets >= 300_000 && seen.capacity.receptions >= 300_000)
        _ = seen.place(hearing(of: most + 1, at: 20_000, most + 1), changes: &changes)
        #expect(seen.count == SeenPackets.alwaysKept)
        #expect(seen.capacity.packets <= 4 * SeenPackets.alwaysKept && seen.capacity.receptions <= 4 * HeardReceptions.alwaysKept)
        func first(of packet: UInt64, at sequence: UInt64) -> UInt64 {
            seen.place(hearing(of: packet, at: 10_000, sequence), changes: &changes).firstSequence
        }
        let kept = most + 2 - UInt64(SeenPackets.alwaysKept)...most
        for (number, packet) in kept.enumerated() { #expect(first(of: packet, at: most + 2 + UInt64(number)) == packet) }
        #expect(first(of: kept.lowerBound - 1, at: 2 * most) == 2 * most)
    }

    @Test func `of more than a million packets within an hour the newest million are remembered`() {
        var seen = SeenPackets()
        let most = UInt64(SeenPackets.mostKept)
        var changes = StageState()
        func isNew(_ packet: UInt64, at sequence: UInt64) -> Bool {
            seen.place(hearing(of: packet, at: 7, sequence), changes: &changes).isFirstReception
        }
        for sequence in 1...most + 10 {
            if !isNew(sequence, at: sequence) { Issue.record("packet \(sequence) was heard before") }
            changes = StageState()
        }
        #expect(seen.count == SeenPackets.mostKept)
        #expect(!isNew(11, at: most + 11) && !isNew(most, at: most + 12))
        #expect(isNew(10, at: most + 13))
        #expect(isNew(11, at: most + 14))
        #expect(seen.count == SeenPackets.mostKept)
    }

    /// Whoever knows the key can send as many contents under one id as there are.
    @Test func `many packets of one sender and id cost no more than few`() {
        var seen = SeenPackets()
        var changes = StageState()
        for sequence in UInt64(1)...50_000 {
            var forged = hearing(of: 7, at: 7, sequence)
            forged.print.plain = UInt32(sequence)
            forged.print.reception = UInt32(sequence)
            #expect(seen.place(forged, changes: &changes).isFirstReception)
        }
        for sequence in UInt64(50_001)...100_000 {
            var again = hearing(of: 7, at: 7, sequence)
            (again.print.plain, again.print.reception) = (50_000, UInt32(sequence))
            #expect(seen.place(again, changes: &changes).firstSequence == 50_000)
        }
    }
}
