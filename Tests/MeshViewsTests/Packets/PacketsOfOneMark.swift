import EventLog
import MeshLedger
import Meshtastic
import ProtobufWire
import TestKit
import Testing

/// The index keeps 24 bits of a packet's id, the mark. Packets of one sender whose marks are equal are distinguished all the same.
struct PacketsOfOneMark {
    private static let senders: ClosedRange<UInt32> = 1_001...1_002
    private static let start: UInt32 = 1_780_000_000
    private static let gateways = ["!00000011", "!00000012", "!00000013"]

    // MARK: Marks

    private static func mark(_ id: UInt32) -> UInt32 { (id &* 2_654_435_761) >> 8 }

    /// The 256 ids of a mark.
    private static func ids(of mark: UInt32) -> [UInt32] {
        var inverse: UInt32 = 1
        for _ in 0..<5 { inverse &*= 2 &- 2_654_435_761 &* inverse }
        return (0..<256).map { (mark << 8 | $0) &* inverse }
    }

    private static func position(_ sender: UInt32, _ id: UInt32, content: Int32) -> MeshPacketBuilder {
        MeshPacketBuilder(from: sender, id: id, port: Port.position, payload: MeshPacketBuilder.position(content, 7))
    }

    /// By sender, packets of one mark, without ids and with ids: other ones than the hashes that the former are known by.
    private static let packetsWithoutID: [UInt32: [[MeshPacketBuilder]]] = {
        let opener = PacketOpener(keyring: .standard)
        var batch = PacketBatch()
        var found: [UInt32: [[MeshPacketBuilder]]] = [:]
        for sender in senders {
            var marks: [UInt32: [UInt32: MeshPacketBuilder]] = [:]
            for content in Int32(1)...12_000 {
                let packet = position(sender, 0, content: content)
                batch.removeAll()
                opener.decode(packet.envelope().rawSpan, form: .serviceEnvelope, into: &batch)
                let hash = UInt32(truncatingIfNeeded: batch.identity(at: 0))
                marks[mark(hash), default: [:]][hash] = packet
            }
            for (mark, packets) in marks.sorted(by: { $0.key < $1.key }) where packets.count > 1 {
                let ids = ids(of: mark).filter { packets[$0] == nil }.prefix(2)
                let withoutID = packets.sorted { $0.key < $1.key }.map(\.value)
                found[sender, default: []].append(withoutID + ids.map { position(sender, $0, content: 5) })
            }
        }
        return found
    }()

    // MARK: Traffic

    /// Receptions of at most twelve packets of one mark.
    private static func receptions(_ packets: [MeshPacketBuilder], _ random: inout SeededGenerator) -> [MeshPacketBuilder] {
        let base = start + UInt32.random(in: 0..<20_000, using: &random)
        var all: [MeshPacketBuilder] = []
        for packet in packets {
            // Now and then once more, hours later.
            for window in 0..<(Int.random(in: 0..<4, using: &random) == 0 ? 2 : 1) as Range<UInt32> {
                for _ in 0..<Int.random(in: 1...5, using: &random) {
                    var reception = packet
                    reception.rxTime = base + window * 9_000 + UInt32.random(in: 0..<1_500, using: &random)
                    reception.gateway = gateways.randomElement(using: &random) ?? ""
                    all.append(reception)
                    if Int.random(in: 0..<6, using: &random) == 0 { all.append(reception) }
                }
            }
        }
        return all.shuffled(using: &random)
    }

    private static func packets(of sender: UInt32, mark: UInt32, _ random: inout SeededGenerator) -> [MeshPacketBuilder] {
        var contents = 0 as Int32
        return ids(of: mark).shuffled(using: &random).prefix(Int.random(in: 1...4, using: &random)).flatMap { id in
            (0..<Int.random(in: 1...2, using: &random)).map { _ in
                contents += 1
                return position(sender, id, content: Int32(bitPattern: mark) + contents)
            }
        }
    }

    /// What is heard of many marks, each a while, between what others say.
    private static func traffic(_ marks: Int, _ random: inout SeededGenerator) -> [MeshPacketBuilder] {
        var groups: [[MeshPacketBuilder]] = []
        for sender in senders {
            for _ in 0..<marks {
                let packets = packets(of: sender, mark: .random(in: 1..<1 << 24, using: &random), &random)
                groups.append(receptions(packets, &random))
            }
            for packets in packetsWithoutID[sender] ?? [] { groups.append(receptions(packets, &random)) }
        }
        return merged(groups, &random)
    }

    /// Each group within a few hundred packets of the others.
    private static func merged(_ groups: [[MeshPacketBuilder]], _ random: inout SeededGenerator) -> [MeshPacketBuilder] {
        var waiting = groups.shuffled(using: &random)
        var (open, all): ([[MeshPacketBuilder]], [MeshPacketBuilder]) = ([], [])
        while !waiting.isEmpty || !open.isEmpty {
            while open.count < 20, let next = waiting.popLast() { open.append(next) }
            let place = Int.random(in: 0..<open.count, using: &random)
            if let packet = open[place].popLast() { all.append(packet) }
            if open[place].isEmpty { open.remove(at: place) }
        }
        return all
    }

    // MARK: The same, plainly

    private struct Grouped: Equatable {
        var from: UInt32
        var id: UInt32
        var receptions: [UInt64]
        var hasConflict = false

        init(from: UInt32, id: UInt32, receptions: [UInt64]) { (self.from, self.id, self.receptions) = (from, id, receptions) }

        init(_ row: PacketRow) {
            self.init(from: row.from, id: row.id, receptions: row.receptions.map(\.sequence))
            hasConflict = row.hasConflict
        }
    }

    /// Packets as FOLD.md has them, of which all times are known and all can be read; the one that begins last first.
    private static func grouped(_ events: [(sequence: UInt64, packet: MeshPacketBuilder)]) -> [Grouped] {
        struct Known {
            var place: Int
            var payload: [UInt8]
            var first: UInt32
            var earliest: UInt32
            var heard: Set<String> = []
        }
        var found: [Grouped] = []
        var known: [String: [Known]] = [:]
        for (sequence, packet) in events {
            let key = "\(packet.from) \(packet.id) \(packet.id == 0 ? packet.payload : [])"
            let reception = "\(packet.gateway) \(packet.rxTime)"
            var list = known[key] ?? []
            let near = list.indices.prefix(8).filter { abs(Int(list[$0].first) - Int(packet.rxTime)) <= 3_600 }
            let fitting = near.filter { list[$0].payload == packet.payload }
            if let index = fitting.first(where: { list[$0].heard.contains(reception) }) ?? fitting.first {
                var again = list.remove(at: index)
                if again.heard.insert(reception).inserted { found[again.place].receptions.append(sequence) }
                let isEarlier = packet.rxTime < again.earliest
                again.earliest = min(again.earliest, packet.rxTime)
                list.insert(again, at: isEarlier ? 0 : index)
            } else {
                var new = Grouped(from: packet.from, id: packet.id, receptions: [sequence])
                if let other = near.first {
                    new.hasConflict = true
                    found[list[other].place].hasConflict = true
                }
                let time = packet.rxTime
                list.insert(
                    Known(place: found.count, payload: packet.payload, first: time, earliest: time, heard: [reception]), at: 0)
                found.append(new)
            }
            known[key] = list
        }
        return found.reversed()
    }

    // MARK: Questions

    private func ledger(_ packets: [MeshPacketBuilder], _ options: LedgerOptions = LedgerOptions()) async throws -> Ledger {
        let ledger = try await Ledger.temporary(options: options)
        let source = try await ledger.log.source(named: "test")
        var start = 0
        while start < packets.count {
            let end = min(start + 5_000, packets.count)
            _ = try await ledger.log.append(packets[start..<end].map { $0.event(source) })
            start = end
        }
        try await ledger.catchUp()
        return ledger
    }

    private static func ofMarks() -> EventSelection { EventSelection(port: Port.position) }

    private func check(_ ledger: Ledger, _ expected: [Grouped], _ note: String) throws {
        let found = try ledger.packets(Self.ofMarks()).map(Grouped.init)
        #expect(found.count == expected.count, "\(note)")
        for (one, other) in zip(found, expected) where one != other {
            Issue.record("\(one) instead of \(other), \(note)")
            return
        }
    }

    @Test(arguments: [1, 2, 3, UInt64.random(in: 4...999_999)])
    func `M11: receptions are given to their packets where marks are equal, ids recur and times go back`(seed: UInt64)
        async throws
    {
        var random = SeededGenerator(seed: seed)
        let packets = Self.traffic(40, &random)
        let events = zip(1..., packets).map { (sequence: UInt64($0), packet: $1) }
        let ledger = try await ledger(packets)
        let expected = Self.grouped(events)
        try check(ledger, expected, "seed \(seed)")
        for (clock, newestFirst) in [(.heard, true), (.arrival, false)] as [(EventOrder.Clock, Bool)] {
            var rows: [Grouped] = []
            try ledger.forEachPacket(EventOrder(by: clock, newestFirst: newestFirst, Self.ofMarks())) {
                rows.append(Grouped($0))
                return true
            }
            #expect(rows.sorted { $0.receptions[0] > $1.receptions[0] } == expected, "seed \(seed)")
        }
        for (sender, id) in Set(packets.map { [$0.from, $0.id] }).map({ ($0[0], $0[1]) }) where id != 0 {
            let ofID = expected.filter { $0.from == sender && $0.id == id }
            #expect(try ledger.packets(withID: id, from: sender).map(Grouped.init) == ofID.reversed(), "seed \(seed), id \(id)")
            let receptions = try ledger.receptions(of: id, from: sender).map(\.sequence)
            #expect(receptions == ofID.flatMap(\.receptions).sorted(), "seed \(seed), id \(id)")
        }
        for _ in 0..<10 {
            let count = Int.random(in: 1...packets.count, using: &random)
            let then = try ledger.asOf(.sequence(UInt64(count)))
            try check(then, Self.grouped(Array(events.prefix(count))), "seed \(seed), event \(count)")
            try await then.close()
        }
        // A part of the log: of packets that began before it, what is in it.
        for _ in 0..<5 {
            let first = Int.random(in: 1...packets.count, using: &random)
            let last = Int.random(in: first...packets.count, using: &random)
            let part = UInt64(first)...UInt64(last)
            let found = try ledger.packets(Self.ofMarks(), in: EventSequence(part.lowerBound)...EventSequence(part.upperBound))
            let wanted = expected.map { $0.receptions.filter(part.contains) }.filter { !$0.isEmpty }
            #expect(
                Set(found.map { $0.receptions.map(\.sequence) }) == Set(wanted), "seed \(seed), events \(first) to \(last)")
        }
        try await ledger.close()
    }

    @Test(arguments: [1, UInt64.random(in: 2...999_999)])
    func `M11: that is so across the index's blocks, and after every restart`(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let packets = Self.traffic(150, &random)
        // Others speak for half a block, now and then.
        let others = [MeshPacketBuilder](repeating: MeshPacketBuilder(from: 9, rxTime: Self.start), count: 8_000)
        var spread: [MeshPacketBuilder] = []
        for (number, packet) in packets.enumerated() {
            if number % (packets.count / 4) == 40 { spread += others }
            spread.append(packet)
        }
        let folder = try TemporaryFolder()
        let path = folder.path + "/mesh.ledger"
        try await Ledger.create(at: path).close()
        var start = 0
        while start < spread.count {
            let ledger = try await Ledger.open(at: path)
            let source = try await ledger.log.source(named: "test")
            let end = min(start + Int.random(in: 1...12_000, using: &random), spread.count)
            _ = try await ledger.log.append(spread[start..<end].map { $0.event(source) })
            try await ledger.catchUp()
            try await ledger.close()
            start = end
        }
        let ledger = try await Ledger.open(at: path)
        let events = zip(1..., spread).map { (sequence: UInt64($0), packet: $1) }.filter { $0.packet.port == Port.position }
        try check(ledger, Self.grouped(events), "seed \(seed)")
        try await ledger.close()
    }

    @Test(arguments: [1, 2, UInt64.random(in: 3...999_999)])
    func `D22: rows of packets of one mark that have gone since are those of then`(seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let packets = Self.traffic(30, &random)
        let options = LedgerOptions(caps: ViewCaps(positions: 12))
        let ledger = try await ledger(packets, options)
        for _ in 0..<8 {
            let count = Int.random(in: 1...packets.count, using: &random)
            let then = try ledger.asOf(.sequence(UInt64(count)))
            let fresh = try await self.ledger(Array(packets.prefix(count)), options)
            for sender in Self.senders {
                #expect(try then.positions(of: sender) == fresh.positions(of: sender), "seed \(seed), event \(count)")
            }
            try await then.close()
            try await fresh.close()
        }
        try await ledger.close()
    }
}
