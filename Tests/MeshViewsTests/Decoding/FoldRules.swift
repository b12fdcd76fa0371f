import EventLog
import MeshLedger
import Meshtastic
import ProtobufWire
import Testing

struct FoldRules {
    private typealias Packet = MeshPacketBuilder

    @Test func `M11: one packet heard by three gateways is one message with three receptions`() async throws {
        let packets = ["!00000011", "!00000012", "!00000013"].map { Packet(payload: Array("hello".utf8), gateway: $0) }
        let ledger = try await ledger(of: packets)
        let messages = try ledger.messages()
        #expect(messages.count == 1)
        #expect(messages.first?.receptions == 3)
        #expect(messages.first?.gateways == [0x11, 0x12, 0x13])
        let node = try #require(try ledger.node(0x1000_0001))
        #expect((node.packets, node.receptions) == (1, 3))
        try await ledger.close()
    }

    @Test func `M11: a packet from three relays is three events and one row, which stays acknowledged, read and archived`()
        async throws
    {
        let message = Packet(from: 1_001, to: 1_002, id: 77, payload: Array("hi".utf8), gateway: "!00000011")
        let receipt = Packet(
            from: 1_002, to: 1_001, id: 78, port: Port.routing, payload: Packet.routing(error: 0), requestID: 77)
        let ledger = try await ledger(of: [message, receipt])
        let key = try #require(try ledger.message(id: 77, from: 1_001).flatMap { MessageKey($0) })
        try await ledger.annotations.record(.read([key]))
        let head = ledger.log.head
        let source = try await ledger.log.source(named: "test")
        for (gateway, relay) in [("!00000012", UInt32(0x12)), ("!00000013", 0x13)] {
            var again = message
            (again.gateway, again.relayNode) = (gateway, relay)
            _ = try await ledger.log.append(again.event(source))
            try await ledger.catchUp()
        }
        #expect(ledger.log.head.rawValue == head.rawValue + 2)
        let row = try #require(try ledger.messages().first)
        #expect(try ledger.messages().count == 1 && row.receptions == 3 && row.state == .delivered && row.isRead)
        try await ledger.maintenance.rebuild()
        #expect(try ledger.messages() == [row])
        try await ledger.close()
    }

    @Test func `M11 D4: one id from two senders, or again after an hour, is two packets`() async throws {
        let first = Packet(payload: Array("a".utf8))
        var second = first
        second.from = 0x1000_0002
        var later = first
        later.rxTime += 3_601
        let ledger = try await ledger(of: [first, second, later])
        #expect(try ledger.messages().count == 3)
        try await ledger.close()
    }

    @Test func `channels of threads are numbered as they come, and beyond 4,096 the others are one`() async throws {
        func text(_ id: UInt32, _ channel: String) -> Packet { Packet(id: id, payload: [72, 105], channel: channel) }
        let again = ["c0", "c4099", "c4095", "new"].enumerated().map { text(UInt32($0) + 5_000, $1) }
        let ledger = try await ledger(of: (0..<4_100).map { text(UInt32($0) + 1, "c\($0)") } + again)
        let threads = try ledger.messages(RowQuery(limit: .max)).sorted { $0.sequence < $1.sequence }.map(\.thread)
        let numbers = (0..<4_100).map { min(UInt32($0), 4_096) } + [0, 4_096, 4_095, 4_096]
        #expect(threads == numbers.map { .channel($0) })
        try await ledger.close()
    }

    @Test(arguments: [true, false]) func `M17: an acknowledgement finds its message, before it or after it`(isFirst: Bool)
        async throws
    {
        let message = Packet(from: 1_001, to: 1_002, id: 77, payload: Array("hi".utf8))
        let receipt = Packet(
            from: 1_002, to: 1_001, id: 78, port: Port.routing, payload: Packet.routing(error: 0), requestID: 77)
        let ledger = try await ledger(of: isFirst ? [receipt, message] : [message, receipt])
        #expect(try ledger.message(id: 77, from: 1_001)?.state == .delivered)
        try await ledger.close()
    }

    @Test(arguments: [true, false]) func `17.2: an acknowledgement is of the newest message of its id, whichever came last`(
        isOldLast: Bool
    ) async throws {
        let old = Packet(from: 1_001, to: 1_002, id: 77, payload: Array("old".utf8))
        var new = Packet(from: 1_001, to: 1_002, id: 77, payload: Array("new".utf8))
        new.rxTime += 259_200
        var receipt = Packet(
            from: 1_002, to: 1_001, id: 78, port: Port.routing, payload: Packet.routing(error: 0), requestID: 77)
        receipt.rxTime = new.rxTime + 10
        let ledger = try await ledger(of: (isOldLast ? [new, old] : [old, new]) + [receipt])
        let states = try ledger.messages().sorted { $0.time < $1.time }.map(\.state)
        #expect(states == [.sent, .delivered])
        try await ledger.close()
    }

    @Test func `M17: a message's state only rises`() async throws {
        let message = Packet(from: 1_001, to: 1_002, id: 77, payload: Array("hi".utf8))
        func receipt(_ id: UInt32, from: UInt32, _ error: UInt32) -> Packet {
            Packet(from: from, to: 1_001, id: id, port: Port.routing, payload: Packet.routing(error: error), requestID: 77)
        }
        let failed = try await ledger(of: [message, receipt(1, from: 1_003, 5)])
        #expect(try failed.message(id: 77, from: 1_001)?.state == .failed)
        #expect(try failed.message(id: 77, from: 1_001)?.failureReason == 5)
        try await failed.close()
        let relayed = try await ledger(of: [message, receipt(1, from: 1_003, 5), receipt(2, from: 1_003, 0)])
        #expect(try relayed.message(id: 77, from: 1_001)?.state == .implicitlyAcknowledged)
        try await relayed.close()
        let arrived = try await ledger(
            of: [message, receipt(1, from: 1_002, 0), receipt(2, from: 1_003, 5), receipt(3, from: 1_003, 0)])
        #expect(try arrived.message(id: 77, from: 1_001)?.state == .delivered)
        try await arrived.close()
    }

    @Test func `M18: null island and its reduced forms are no positions, places off the globe are quarantined`() async throws {
        let places: [(Int32, Int32, UInt32)] = [
            (0, 0, 32), (1 << 17, 1 << 17, 14), (950_000_000, 1, 32), (479_000_000, 112_000_000, 14),
        ]
        let packets = places.enumerated().map { index, place in
            Packet(
                id: UInt32(index + 1), port: Port.position,
                payload: Packet.position(place.0, place.1, precision: place.2))
        }
        let ledger = try await ledger(of: packets)
        #expect(try ledger.positions(of: nil).map(\.latitudeE7) == [479_000_000])
        #expect(try ledger.maintenance.quarantine(view: "positions").map(\.sequence) == [3])
        #expect(ledger.log.head.rawValue == 4)
        try await ledger.close()
    }

    @Test func `D8 X4: a sender's clock counts only near the time of reception`() async throws {
        let heard: UInt32 = 1_780_000_000
        let stamps: [UInt32] = [heard - 100, 0, 1_000, heard + 86_400, heard - 90_000]
        let packets = stamps.enumerated().map { index, stamp in
            Packet(
                id: UInt32(index + 1), rxTime: index == 1 ? 0 : heard, port: Port.position,
                payload: Packet.position(1_000 + Int32(index), 5, time: stamp))
        }
        let ledger = try await Ledger.temporary()
        let source = try await ledger.log.source(named: "test")
        _ = try await ledger.log.append(packets.map { $0.event(source, at: heard) })
        try await ledger.catchUp()
        let rows = try ledger.positions(of: 0x1000_0001).sorted { $0.sequence < $1.sequence }
        #expect(rows.map(\.time) == [heard - 100, heard, heard, heard, heard])
        #expect(rows.map(\.timeSource) == [.sender, .recorded, .receiver, .receiver, .receiver])
        try await ledger.close()
    }

    @Test func `D8 X4: a stamp counts up to a day before the reception and five minutes after it, to the second`() async throws {
        let heard: UInt32 = 1_780_000_000
        let (day, ahead) = (heard - 86_400, heard + 300)
        let stamps = [day - 1, day, day + 1, heard, ahead - 1, ahead, ahead + 1]
        let packets = stamps.enumerated().map { index, stamp in
            Packet(
                id: UInt32(index + 1), rxTime: heard, port: Port.position,
                payload: Packet.position(1_000 + Int32(index), 5, time: stamp))
        }
        let ledger = try await ledger(of: packets)
        let rows = try ledger.positions(of: 0x1000_0001).sorted { $0.sequence < $1.sequence }
        #expect(rows.map(\.time) == [heard] + stamps[1...5] + [heard])
        #expect(rows.map(\.timeSource) == [.receiver] + Array(repeating: .sender, count: 5) + [.receiver])
        try await ledger.close()
    }

    @Test func `D8 X4: without a reception time a stamp counts from 2020 to five minutes after its arrival, to the second`()
        async throws
    {
        let arrival: UInt32 = 1_790_000_000
        let (first, last): (UInt32, UInt32) = (1_577_836_800, arrival + 300)
        let stamps = [first - 1, first, first + 1, last - 1, last, last + 1]
        let ledger = try await Ledger.temporary(
            options: LedgerOptions(log: EventLogOptions(clock: { Timestamp(seconds: Int64(arrival)) })))
        let source = try await ledger.log.source(named: "test")
        _ = try await ledger.log.append(
            stamps.enumerated().map { index, stamp in
                let packet = Packet(
                    id: UInt32(index + 1), rxTime: 0, port: Port.position,
                    payload: Packet.position(1_000 + Int32(index), 5, time: stamp))
                return NewEvent(packet.envelope(), encoding: .serviceEnvelope, source: source, reception: .unrecorded)
            })
        try await ledger.catchUp()
        let rows = try ledger.positions(of: 0x1000_0001).sorted { $0.sequence < $1.sequence }
        #expect(rows.map(\.time) == [arrival] + stamps[1...4] + [arrival])
        #expect(rows.map(\.timeSource) == [.import] + Array(repeating: .sender, count: 4) + [.import])
        try await ledger.close()
    }

    @Test func `D4 M11: receptions are of one packet within an hour of its first one, before it or after it`() async throws {
        let first = Packet(rxTime: 1_780_010_000, payload: Array("a".utf8), gateway: "!00000011")
        func packets(_ distances: Int64...) async throws -> Int {
            let others = distances.enumerated().map { place, distance in
                var other = first
                other.rxTime = UInt32(Int64(first.rxTime) + distance)
                other.gateway = "!000000\(20 + place)"
                return other
            }
            let ledger = try await ledger(of: [first] + others)
            let count = try ledger.messages().count
            try await ledger.close()
            return count
        }
        for (distance, count) in [(3_599, 1), (3_600, 1), (3_601, 2), (-3_599, 1), (-3_600, 1), (-3_601, 2)] as [(Int64, Int)] {
            #expect(try await packets(distance) == count, "\(distance)")
        }
        // The hour does not slide: the third is within an hour of the second only.
        #expect(try await packets(3_000, 6_000) == 2)
        #expect(try await packets(3_000, 3_600) == 1)
    }

    @Test func `X5 D17: the first public key stays and another one is flagged; an empty name never replaces a name`() async throws
    {
        let first = [UInt8](repeating: 1, count: 32)
        let other = [UInt8](repeating: 2, count: 32)
        let ledger = try await ledger(of: [
            Packet(id: 1, port: Port.position, payload: Packet.position(1_000, 2_000)),
            Packet(id: 2, port: Port.nodeInfo, payload: Packet.user("Hilltop", key: first)),
            Packet(id: 3, port: Port.nodeInfo, payload: Packet.user("", key: other)),
        ])
        let node = try #require(try ledger.node(0x1000_0001))
        #expect(node.longName == "Hilltop")
        #expect(node.publicKey == first)
        #expect(node.hasKeyConflict)
        #expect(node.firstSequence == 1)
        try await ledger.close()
    }

    @Test func `M32: a noisy channel never evicts another, and direct threads have their own cap`() async throws {
        var packets: [Packet] = []
        for index in UInt32(0)..<40 {
            packets.append(Packet(id: 100 + index, rxTime: 1_780_000_000 + index, payload: Array("noise".utf8), channel: "Loud"))
        }
        packets.append(Packet(id: 1, payload: Array("calm".utf8), channel: "Quiet"))
        packets.append(Packet(to: 9, id: 2, payload: Array("direct".utf8), channel: "Loud"))
        let ledger = try await ledger(of: packets, options: LedgerOptions(caps: ViewCaps(messages: 10)))
        let loud = try ledger.messages(RowQuery(channel: "Loud"))
        #expect(loud.filter { $0.to == NodeID.broadcast }.map(\.id) == (130..<140).reversed().map { UInt32($0) })
        #expect(try ledger.messages(RowQuery(channel: "Quiet")).count == 1)
        #expect(try ledger.messages(of: 9).map(\.id) == [2])
        try await ledger.close()
    }

    @Test func `X1: a flood of nodes keeps the cap and the newcomers`() async throws {
        let packets = (UInt32(1)...3_000).map { Packet(from: 5_000 + $0, id: $0, rxTime: 1_780_000_000 + $0) }
        let ledger = try await ledger(of: packets, options: LedgerOptions(caps: ViewCaps(nodes: 1_500)))
        let numbers = Set(try ledger.nodes().map(\.number))
        #expect(numbers == Set((UInt32(1_501)...3_000).map { 5_000 + $0 }))
        try await ledger.close()
    }

    @Test func `X1: of newcomers only, the one that was heard longest ago goes`() async throws {
        // Their times go up and down: what counts is when they were heard last, then the number.
        let times = (UInt32(0)..<300).map { 1_780_000_000 + ($0 &* 7_919) % 101 }
        let packets = times.indices.map { Packet(from: 5_000 + UInt32($0), id: UInt32($0) + 1, rxTime: times[$0]) }
        let ledger = try await ledger(of: packets, options: LedgerOptions(caps: ViewCaps(nodes: 100)))
        var kept: [(time: UInt32, number: UInt32)] = []
        for packet in packets {
            if kept.count == 100, let least = kept.indices.min(by: { kept[$0] < kept[$1] }) { kept.remove(at: least) }
            kept.append((packet.rxTime, packet.from))
        }
        #expect(try ledger.nodes().map(\.number).sorted() == kept.map(\.number).sorted())
        try await ledger.close()
    }

    @Test func `a node that repeats an announcement of which only a part was the newest is what all of it says`() async throws {
        func announced(_ name: String, isUnmessagable: Bool) -> [UInt8] {
            var writer = WireWriter()
            if !name.isEmpty { writer.string(2, name) }
            writer.varint(9, isUnmessagable ? 1 : 0)
            return writer.bytes
        }
        let (early, late) = (announced("Hill", isUnmessagable: false), announced("", isUnmessagable: true))
        func packet(_ id: UInt32, _ payload: [UInt8], at time: UInt32) -> Packet {
            Packet(from: 1_001, id: id, rxTime: 1_780_000_000 + time, port: Port.nodeInfo, payload: payload)
        }
        for (last, isUnmessagable) in [(15, true), (20, false)] as [(UInt32, Bool)] {
            let packets = [packet(1, late, at: 10), packet(2, early, at: 5)] + (last > 15 ? [packet(3, early, at: last)] : [])
            let ledger = try await ledger(of: packets)
            let node = try #require(try ledger.node(1_001))
            #expect(node.longName == "Hill" && node.isUnmessagable == isUnmessagable)
            try await ledger.close()
        }
    }

    @Test func `X1: the cap grows by nodes that become favorites, and shrinks when they no longer are`() async throws {
        let ledger = try await ledger(of: [], options: LedgerOptions(caps: ViewCaps(nodes: 3)))
        let source = try await ledger.log.source(named: "test")
        func hear(_ nodes: ClosedRange<UInt32>) async throws -> [UInt32] {
            _ = try await ledger.log.append(nodes.map { Packet(from: $0, id: $0, rxTime: 1_780_000_000 + $0).event(source) })
            try await ledger.catchUp()
            return try ledger.nodes().map(\.number).sorted()
        }
        // As another ledger has recorded it, before they are heard.
        let marks = [UInt32(1), 2].map { NewEvent(Annotation.favorite($0).payload, encoding: .annotation, source: source) }
        _ = try await ledger.log.append(marks)
        #expect(try await hear(1...3) == [1, 2, 3])
        try await ledger.annotations.record([.favorite(3)])
        #expect(try await hear(4...6) == [1, 2, 3, 6])
        try await ledger.annotations.record((1...3).map { .favorite($0, false) })
        #expect(try await hear(7...12) == [10, 11, 12])
        try await ledger.close()
    }

    @Test(arguments: [(1_023, 2), (1_024, 2), (1_025, 1), (1_026, 1)] as [(UInt32, UInt32)])
    func `X1: a node is a newcomer until the 1,024th event after its first`(_ sequence: UInt32, _ evicted: UInt32) async throws {
        let start: UInt32 = 1_780_000_000
        // Node 1 is heard by event 1 and ever after, node 2 by event 900, longer ago than node 1, node 3 when there is no room.
        let packets = (1...sequence).map { number in
            let node: UInt32 = number == sequence ? 3 : number == 900 ? 2 : 1
            return Packet(from: node, id: number, rxTime: start + (node == 2 ? 0 : number))
        }
        let ledger = try await ledger(of: packets, options: LedgerOptions(caps: ViewCaps(nodes: 2)))
        #expect(try ledger.nodes().map(\.number).sorted() == [1, 2, 3].filter { $0 != evicted })
        try await ledger.close()
    }
}
