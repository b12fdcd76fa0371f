import EventLog
import MeshLedger
import Meshtastic
import ProtobufWire
import Synchronization
import Testing

/// Which receptions are of one packet, and which count.
struct PacketContents {
    private typealias Packet = MeshPacketBuilder

    @Test func `D4 D16: a forged packet with the id of another is a packet of its own, and both say so`() async throws {
        let real = Packet(payload: Array("at eight".utf8), gateway: "!00000011")
        var forged = real
        (forged.payload, forged.gateway, forged.rxTime) = (Array("at nine".utf8), "!00000012", real.rxTime + 5)
        var again = real
        (again.gateway, again.rxTime) = ("!00000013", real.rxTime + 9)
        let ledger = try await ledger(of: [real, forged, again])
        let messages = try ledger.messages().sorted { $0.time < $1.time }
        #expect(messages.map(\.text) == ["at eight", "at nine"])
        #expect(messages.map(\.gateways) == [[0x11, 0x13], [0x12]])
        #expect(messages.map(\.receptions) == [2, 1])
        #expect(messages.map(\.hasConflict) == [true, true])
        let packets = try ledger.packets()
        #expect(packets.map { $0.receptions.map(\.sequence) } == [[2], [1, 3]])
        #expect(packets.map(\.hasConflict) == [true, true])
        let node = try #require(try ledger.node(real.from))
        #expect((node.packets, node.receptions) == (2, 3))
        try await ledger.close()
    }

    @Test func `unreadable packets with one id are one where the bytes are the same, or those of a route that grows`()
        async throws
    {
        func sealed(_ bytes: [UInt8], from node: UInt32) -> [UInt8] { Packet.encrypted(from: node, id: 5, hash: 99, bytes) }
        let ledger = try await Ledger.temporary()
        let source = try await ledger.log.source(named: "test")
        let forms = [
            sealed([1, 2, 3, 4, 5], from: 1_001), sealed([1, 2, 3, 4, 5], from: 1_001), sealed([1, 2, 3, 4, 6], from: 1_001),
            sealed([7, 7, 7, 1], from: 1_002), sealed([7, 7, 8, 2, 9, 9], from: 1_002),
            sealed([7, 7, 7, 1], from: 1_003), sealed([7, 8, 7, 1, 9, 9], from: 1_003),
            sealed([7, 7, 7, 1], from: 1_004), sealed([], from: 1_004), sealed([], from: 1_004),
            sealed([7, 7, 7, 1, 5, 5], from: 1_005), sealed([7, 7, 8, 2, 9, 9, 3, 3], from: 1_005),
        ]
        for (index, form) in forms.enumerated() {
            let time = Timestamp(seconds: 1_780_000_000 + Int64(index))
            _ = try await ledger.log.append([
                NewEvent(
                    form, encoding: PayloadEncoding(rawValue: CaptureForm.serviceEnvelope.rawValue), source: source,
                    reception: .recorded(time))
            ])
        }
        try await ledger.catchUp()
        #expect(try ledger.node(1_001)?.packets == 2)
        #expect(try ledger.node(1_002)?.packets == 1)
        #expect(try ledger.node(1_003)?.packets == 2)
        #expect(try ledger.node(1_004)?.packets == 2)
        #expect(try ledger.node(1_005)?.packets == 1)
        try await ledger.close()
    }

    @Test func `contents that differ in a bit of the port and the same bit of the payload are of two packets`() async throws {
        let port: UInt32 = 341  // private ports, which are not decoded
        var packets: [Packet] = []
        for length in 1...16 {
            for bit in 0..<8 {
                let payload = (0..<length).map { UInt8(8 + 5 * $0) }
                let first = Packet(id: UInt32(packets.count + 1), port: port, payload: payload)
                var second = first
                second.port ^= 1 << UInt32(bit)
                second.payload[0] ^= 1 << UInt8(bit)
                packets += [first, second]
            }
        }
        let ledger = try await ledger(of: packets)
        #expect(try ledger.node(packets[0].from)?.packets == UInt64(packets.count))
        try await ledger.close()
    }

    @Test func `no two beginnings of unreadable packets are taken for each other`() async throws {
        let ledger = try await Ledger.temporary()
        let source = try await ledger.log.source(named: "test")
        let nodes = 2_000..<3_000 as Range<UInt32>
        let forms = nodes.flatMap { node in
            let first = UInt8(truncatingIfNeeded: node)
            return [[first, 1, 2, 3], [first &+ 1, UInt8(truncatingIfNeeded: node >> 8), 2, 3, 4, 5]].map {
                Packet.encrypted(from: node, id: 5, hash: 99, $0)
            }
        }
        _ = try await ledger.log.append(
            forms.map {
                NewEvent(
                    $0, encoding: .serviceEnvelope, source: source, reception: .recorded(Timestamp(seconds: 1_780_000_000)))
            })
        try await ledger.catchUp()
        for node in nodes { #expect(try ledger.node(node)?.packets == 2) }
        try await ledger.close()
    }

    @Test func `two packets of one sender and id whose tags do not fit are two where the bytes differ`() async throws {
        let key = try ChannelKey(name: "Vault", psk: [UInt8](1...16), isAEAD: true)
        let ledger = try await Ledger.temporary()
        try await ledger.keys.set(Keyring.standard.adding(key))
        let source = try await ledger.log.source(named: "test")
        for bytes in [[UInt8](repeating: 1, count: 30), [UInt8](repeating: 2, count: 40)] {
            let form = Packet.encrypted(from: 1_001, id: 5, hash: UInt64(key.hash), bytes)
            _ = try await ledger.log.append(
                NewEvent(
                    form, encoding: .serviceEnvelope, source: source, reception: .recorded(Timestamp(seconds: 1_780_000_000))))
        }
        try await ledger.catchUp()
        #expect(try ledger.maintenance.quarantine().count == 2)
        #expect(try ledger.node(1_001)?.packets == 2)
        try await ledger.close()
    }

    @Test(arguments: [0, NodeID.broadcast])
    func `packets from nobody give no rows, also those whose rows count each reception`(nobody: UInt32) async throws {
        let payloads: [(UInt32, [UInt8])] = [
            (Port.mapReport, Packet.mapReport("Hill")), (Port.waypoint, Packet.waypoint(7, "Hut")),
            (Port.neighborInfo, Packet.neighbors(of: nobody, [(1_002, 5)])),
            (Port.traceroute, Packet.route([1_002, 1_003], [4, 4, 4])),
        ]
        let ledger = try await ledger(
            of: payloads.enumerated().map {
                Packet(from: nobody, to: 1_004, id: UInt32($0) + 9, port: $1.0, payload: $1.1, gateway: "!00000011")
            })
        #expect(
            try ledger.mapReports().isEmpty && ledger.waypoints().isEmpty && ledger.links().isEmpty
                && ledger.traceRoutes().isEmpty)
        #expect(try ledger.nodes().isEmpty && ledger.gateways().isEmpty)
        try await ledger.close()
    }

    /// A reception of packet 5 that no key opens.
    private func sealed(_ gateway: String, at time: UInt32 = 1_780_000_001) -> [UInt8] {
        var writer = WireWriter()
        writer.message(1) { packet in
            packet.fixed32(1, 1_001)
            packet.fixed32(2, NodeID.broadcast)
            packet.varint(3, 99)
            packet.bytes(5, [1, 2, 3, 4, 5, 6])
            packet.fixed32(6, 5)
            packet.fixed32(7, time)
        }
        writer.string(3, gateway)
        return writer.bytes
    }

    @Test func `M17: the gateways of a message are in the order in which they heard it, also those before it could be read`()
        async throws
    {
        let clear = Packet(from: 1_001, id: 5, rxTime: 1_780_000_100, payload: Array("hi".utf8), gateway: "!00000012").envelope()
        let ledger = try await Ledger.temporary()
        let source = try await ledger.log.source(named: "test")
        let forms = [
            (sealed("!00000013", at: 1_780_000_003), 1_780_000_060), (sealed("!00000011", at: 1_780_000_001), 1_780_000_070),
            (clear, 1_780_000_100),
        ]
        for (form, reception) in forms {
            _ = try await ledger.log.append(
                NewEvent(
                    form, encoding: .serviceEnvelope, source: source, reception: .recorded(Timestamp(seconds: Int64(reception)))))
        }
        try await ledger.catchUp()
        #expect(try ledger.messages().first?.gateways == [0x11, 0x13, 0x12])
        try await ledger.close()
    }

    @Test func `the same reception counts once, however often it comes, in every view`() async throws {
        let first = Packet(payload: Array("hello".utf8), gateway: "!00000011", snr: 5)
        var other = first
        (other.gateway, other.snr) = ("!00000012", 3)
        let ledger = try await ledger(of: [first, first, other, first, other])
        let message = try #require(try ledger.messages().first)
        #expect((message.receptions, message.gateways) == (2, [0x11, 0x12]))
        let node = try #require(try ledger.node(first.from))
        #expect((node.packets, node.receptions) == (1, 2))
        #expect(try ledger.gateways().map(\.receptions) == [1, 1])
        #expect(try ledger.channels().map(\.receptions) == [2])
        #expect(try ledger.links().map(\.direct).allSatisfy { $0 <= 1 })
        #expect(try ledger.packets().map { $0.receptions.map(\.sequence) } == [[1, 3]])
        #expect(ledger.log.head.rawValue == 5)
        try await ledger.close()
    }

    @Test func `receptions of a radio that differ in the strength only are two, whatever it is`() async throws {
        let first = Packet(payload: Array("hello".utf8), gateway: "", snr: 1)
        var other = first
        other.snr = 0
        let ledger = try await ledger(of: [first, other, first])
        #expect(try ledger.messages().map(\.receptions) == [2])
        try await ledger.close()
    }

    @Test func `the JSON beside the protobuf of a gateway is no second reception, and the protobuf has the row`() async throws {
        let json =
            #"{"channel":0,"from":268435457,"id":1,"payload":{"text":"hi"},"rssi":-90,"sender":"!00000011","snr":6.25,"timestamp":1780000000,"to":4294967295,"type":"text"}"#
        var writer = WireWriter()
        writer.message(1) { packet in
            packet.fixed32(1, 0x1000_0001)
            packet.fixed32(2, NodeID.broadcast)
            packet.message(4) { data in
                data.varint(1, 1)
                data.string(2, "hi")
                data.fixed32(7, 77)
            }
            packet.fixed32(6, 1)
            packet.fixed32(7, 1_780_000_000)
            packet.float(8, 6.25)
            packet.varint(12, UInt64(bitPattern: -90))
        }
        writer.string(2, "LongFast")
        writer.string(3, "!00000011")
        for isJSONFirst in [true, false] {
            let ledger = try await Ledger.temporary()
            let source = try await ledger.log.source(named: "msh/2/json/LongFast/!00000011")
            let events = [
                NewEvent(
                    Array(json.utf8), encoding: PayloadEncoding(rawValue: CaptureForm.mqttJSON.rawValue), source: source,
                    reception: .unrecorded),
                NewEvent(
                    writer.bytes, encoding: PayloadEncoding(rawValue: CaptureForm.serviceEnvelope.rawValue), source: source,
                    reception: .unrecorded),
            ]
            _ = try await ledger.log.append(isJSONFirst ? events : events.reversed())
            try await ledger.catchUp()
            let messages = try ledger.messages()
            #expect(messages.count == 1)
            #expect((messages.first?.receptions, messages.first?.replyID) == (1, 77))
            #expect(try ledger.node(0x1000_0001)?.receptions == 1)
            try await ledger.close()
        }
    }

    @Test func `M17: a message counts the receptions that could not be read, before and after`() async throws {
        let clear = Packet(from: 1_001, id: 5, payload: Array("hi".utf8), gateway: "!00000012")
        let ledger = try await Ledger.temporary()
        let source = try await ledger.log.source(named: "test")
        for form in [sealed("!00000011"), clear.envelope(), sealed("!00000013"), sealed("!00000013")] {
            _ = try await ledger.log.append([
                NewEvent(
                    form, encoding: PayloadEncoding(rawValue: CaptureForm.serviceEnvelope.rawValue), source: source,
                    reception: .unrecorded)
            ])
        }
        try await ledger.catchUp()
        let message = try #require(try ledger.messages().first)
        #expect(message.receptions == 3)
        #expect(message.gateways == [0x12, 0x11, 0x13])
        #expect(try ledger.packets().first?.receptions.count == 3)
        #expect(try ledger.node(1_001)?.unreadable == 0)
        try await ledger.close()
    }

    @Test func `D17: an older recording replaces nothing that is newer, and its key is the first one`() async throws {
        let old: UInt32 = 1_780_000_000 - 90_000
        func said(_ name: String, _ key: UInt8, at time: UInt32, hardware: UInt32) -> Packet {
            Packet(
                id: time, rxTime: time, port: Port.nodeInfo,
                payload: Packet.user(name, key: [UInt8](repeating: key, count: 32), hardware: hardware))
        }
        let ledger = try await ledger(of: [
            said("today", 1, at: 1_780_000_000, hardware: 7), said("then", 2, at: old, hardware: 9),
        ])
        let node = try #require(try ledger.node(0x1000_0001))
        #expect((node.longName, node.shortName, node.hardwareModel) == ("today", "toda", 7))
        #expect(node.publicKey == [UInt8](repeating: 2, count: 32) && node.hasKeyConflict)
        #expect((node.firstHeard, node.lastHeard) == (old, 1_780_000_000))
        try await ledger.close()
    }

    @Test func `D17: in live traffic nobody dates back what was first, or ahead what is latest`() async throws {
        let clock = Mutex(Timestamp(seconds: 1_780_000_000))
        let ledger = try await Ledger.temporary(
            options: LedgerOptions(log: EventLogOptions(clock: { clock.withLock { $0 } })))
        let source = try await ledger.log.source(named: "test")
        for (key, shift) in [(1, 0), (2, -90_000), (3, 86_000), (4, 0)] as [(UInt8, Int64)] {
            let now = clock.withLock { clock in
                clock = clock.adding(seconds: 60)
                return clock.seconds
            }
            let packet = Packet(
                id: UInt32(key), rxTime: UInt32(now + shift), port: Port.nodeInfo,
                payload: Packet.user("name \(key)", key: [UInt8](repeating: key, count: 32), hardware: UInt32(key)))
            _ = try await ledger.log.append(
                NewEvent(packet.envelope(), encoding: .serviceEnvelope, source: source, reception: .live))
            try await ledger.catchUp()
            let node = try #require(try ledger.node(0x1000_0001))
            #expect(node.longName == "name \(key)" && node.hardwareModel == UInt32(key))
            #expect(node.publicKey.first == 1 && node.hasKeyConflict == (key > 1))
        }
        try await ledger.close()
    }

    @Test func `D17: a key that came at an unknown time, and then at a known one, is older than one that was heard later`()
        async throws
    {
        func said(_ key: UInt8, at time: UInt32) -> [UInt8] {
            let user = Packet.user("Hill", key: [UInt8](repeating: key, count: 32))
            return Packet(from: 1_001, id: 7 + time % 1_000, rxTime: time, port: Port.nodeInfo, payload: user).envelope()
        }
        let ledger = try await Ledger.temporary()
        let source = try await ledger.log.source(named: "test")
        for (key, time) in [(1, 0), (1, 1_780_000_100), (2, 1_780_000_200)] as [(UInt8, UInt32)] {
            _ = try await ledger.log.append(
                NewEvent(said(key, at: time), encoding: .serviceEnvelope, source: source, reception: .unrecorded))
        }
        try await ledger.catchUp()
        let node = try #require(try ledger.node(1_001))
        #expect(node.publicKey.first == 1 && node.hasKeyConflict)
        try await ledger.close()
    }

    @Test func `D17: foreign bytes do not replace a clean name, which replaces them`() async throws {
        func said(_ name: [UInt8], at time: UInt32) -> Packet {
            var writer = WireWriter()
            writer.bytes(2, name)
            return Packet(id: time, rxTime: time, port: Port.nodeInfo, payload: writer.bytes)
        }
        let start: UInt32 = 1_780_000_000
        for foreign in [[0xff, 0x41], [0x41, 0x07], [0xc2, 0x85]] as [[UInt8]] {
            let ledger = try await ledger(of: [
                said(foreign, at: start), said(Array("harbour".utf8), at: start - 50), said(foreign, at: start + 9),
            ])
            #expect(try ledger.node(0x1000_0001)?.longName == "harbour")
            try await ledger.close()
        }
        let ledger = try await ledger(of: [said([0xff, 0x41], at: start), said([0xff, 0x42], at: start + 1)])
        #expect(try ledger.node(0x1000_0001)?.longName == "\u{fffd}B")
        try await ledger.close()
    }

    /// Nobody has recorded when these packets were received, so their own rx_time says it.
    @Test func `D8 X4: a sender's clock is not believed against the packet's rx_time, nor a file's against the arrival`()
        async throws
    {
        let heard: UInt32 = 1_780_000_000
        func place(_ id: UInt32, rx: UInt32, sent: UInt32) -> Packet {
            Packet(id: id, rxTime: rx, port: Port.position, payload: Packet.position(470_000_000, 7, time: sent))
        }
        let ledger = try await Ledger.temporary()
        let source = try await ledger.log.source(named: "test")
        let encoding = PayloadEncoding(rawValue: CaptureForm.serviceEnvelope.rawValue)
        let packets = [
            place(1, rx: heard, sent: heard - 86_400), place(2, rx: heard, sent: heard - 86_401),
            place(3, rx: heard, sent: heard + 300),
            place(4, rx: heard, sent: heard + 301), place(5, rx: heard, sent: heard - 99 * 86_400),
        ]
        _ = try await ledger.log.append(
            packets.map { NewEvent($0.envelope(), encoding: encoding, source: source, reception: .unrecorded) })
        var late = place(6, rx: 0, sent: 0)
        late.from = 1_002
        _ = try await ledger.log.append([late.event(source, at: .max)])
        try await ledger.catchUp()
        let times = try ledger.positions(of: 0x1000_0001).sorted { $0.packetID < $1.packetID }.map(\.time)
        #expect(times == [heard - 86_400, heard, heard + 300, heard, heard])
        let latest = try #require(try ledger.node(1_002)?.lastHeard)
        #expect(latest < .max && latest > heard)
        try await ledger.close()
    }

    @Test func `X10: replayed positions and metrics that share an id are two, and no receptions`() async throws {
        let time: UInt32 = 1_780_000_000
        var position = Packet(
            from: 1_001, id: ReplayedState.id(node: 1_001, rxTime: time, kind: 3), rxTime: time, port: Port.position,
            payload: Packet.position(470_000_000, 7, time: time))
        (position.priority, position.transport) = (10, 1)
        var writer = WireWriter()
        writer.fixed32(1, time)
        writer.message(3) { $0.float(1, 21.5) }
        var metrics = position
        (metrics.port, metrics.payload) = (Port.telemetry, writer.bytes)
        let ledger = try await ledger(of: [position, metrics, position, metrics])
        #expect(try ledger.positions(of: 1_001).count == 1)
        #expect(try ledger.telemetry(of: 1_001).count == 1)
        let node = try #require(try ledger.node(1_001))
        #expect((node.receptions, node.packets, node.lastHeard) == (0, 0, time))
        #expect(try ledger.channels().isEmpty)
        let packets = try ledger.packets()
        #expect(packets.map { $0.receptions.map(\.sequence) } == [[2, 4], [1, 3]])
        #expect(packets.allSatisfy { $0.isReplayedState && $0.heardReceptions.isEmpty })
        #expect(try ledger.receptions(of: position.id).isEmpty)
        try await ledger.close()
    }
}
