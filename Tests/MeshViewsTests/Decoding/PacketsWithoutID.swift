import EventLog
import MeshCrypto
import MeshLedger
import Meshtastic
import Testing

/// What is known by what its sender has written: map reports, and packets of programs that give them no id.
struct PacketsWithoutID {
    private typealias Packet = MeshPacketBuilder

    private static let heard: UInt32 = 1_780_000_000

    private func texts(_ packets: [Packet]) async throws -> [MessageRow] {
        let ledger = try await ledger(of: packets)
        let rows = try ledger.messages().sorted { $0.firstSequence < $1.firstSequence }
        try await ledger.close()
        return rows
    }

    private static func text(_ text: String, _ change: (inout Packet) -> Void = { _ in }) -> Packet {
        var packet = Packet(id: 0, rxTime: heard, payload: Array(text.utf8))
        change(&packet)
        return packet
    }

    /// Many of one sender: more than the packets of one id with which another is compared.
    private static let mixed: [Packet] = (UInt32(0)..<30).flatMap { number -> [Packet] in
        let time = heard + number * 60
        return [
            Packet(id: 0, rxTime: 0, port: Port.mapReport, payload: Packet.mapReport("report \(number)")),
            Packet(id: 0, rxTime: time, payload: Array("text \(number)".utf8)),
            Packet(id: 0, rxTime: time, port: Port.position, payload: Packet.position(1_000 + Int32(number), 5)),
            Packet(id: 0, rxTime: time, port: Port.telemetry, payload: [18, 2, 8, UInt8(number)]),
            Packet(id: 0, rxTime: time, port: Port.nodeInfo, payload: Packet.user("node \(number)")),
        ]
    }

    @Test(arguments: [1, 150]) func `what is imported again changes no row, and makes no packet and no reception`(batch: Int)
        async throws
    {
        let ledger = try await Ledger.temporary()
        let source = try await ledger.log.source(named: "file:once")
        func events(_ source: SourceID) throws -> [NewEvent] {
            let sealed = try Self.mixed.filter { $0.port == Port.text }.map {
                try $0.encryptedEvent(ChannelKey(name: "Unknown", psk: Array(1...16)), source)
            }
            return Self.mixed.map {
                NewEvent($0.envelope(), encoding: .serviceEnvelope, source: source, reception: .unrecorded)
            } + sealed
        }
        _ = try await ledger.log.append(try events(source))
        try await ledger.catchUp()
        func rows() throws -> [String] {
            try [
                ledger.nodes().map { "\($0.packets) \($0.receptions) \($0.unreadable) \($0.longName)" },
                ledger.messages().map { "\($0.text) \($0.receptions) \($0.gateways) \($0.sequence)" },
                ledger.positions(of: nil).map { "\($0)" }, ledger.telemetry(of: nil).map { "\($0)" },
                ledger.mapReports().map { "\($0.reports) \($0.longName)" },
                ledger.gateways().map { "\($0.receptions) \($0.packets) \($0.unreadable)" },
                ledger.channels().map { "\($0.packets) \($0.receptions)" }.sorted(),
                ledger.nodeHistory().map { "\($0)" },
                ledger.packets().map { "\($0.port) \($0.receptions.count)" },
            ].flatMap { $0 }
        }
        let once = try rows()
        #expect(try ledger.packets().count == 180 && ledger.messages().count == 30 && ledger.mapReports().first?.reports == 30)
        #expect(try ledger.gateways().map(\.receptions) == [180])
        let again = try events(try await ledger.log.source(named: "-"))
        for start in stride(from: 0, to: again.count, by: batch) {
            _ = try await ledger.log.append(Array(again[start..<min(start + batch, again.count)]))
            if batch > 1 { try await ledger.catchUp() }
        }
        try await ledger.catchUp()
        #expect(try rows() == once)
        #expect(try ledger.packets(EventSelection(packetID: 0)).count == 180)
        try await ledger.maintenance.rebuild()
        #expect(try rows() == once)
        try await ledger.close()
    }

    @Test func `another gateway hears the same packet, with what it holds in the same place`() async throws {
        let one = Self.text("hello")
        let other = Self.text("hello") {
            ($0.gateway, $0.rxTime, $0.hopLimit, $0.relayNode) = ("!00000012", Self.heard + 9, 2, 7)
        }
        let earlier = Self.text("hello") { ($0.gateway, $0.rxTime) = ("!00000013", Self.heard - 9) }
        let rows = try await texts([one, other, one, other, earlier])
        #expect(rows.map(\.receptions) == [3] && rows.map(\.gateways) == [[0x13, 0xaabb_ccdd, 0x12]])
        #expect(rows.map(\.time) == [Self.heard - 9] && rows.map(\.sequence) == [5])
    }

    @Test
    func `other content, another addressee or sender, and the same after an hour are packets of their own, without a conflict`()
        async throws
    {
        let rows = try await texts([
            Self.text("hello"), Self.text("hallo"), Self.text("hello") { $0.to = 0x2000_0002 },
            Self.text("hello") { $0.from = 0x2000_0002 },
            Self.text("hello") { $0.replyID = 7 }, Self.text("hello") { $0.rxTime += 3_600 },
            Self.text("hello") { $0.rxTime += 3_601 },
        ])
        #expect(rows.map(\.firstSequence) == [1, 2, 3, 4, 5, 7])
        #expect(rows.map(\.receptions) == [2, 1, 1, 1, 1, 1] && rows.allSatisfy { !$0.hasConflict })
    }

    @Test func `what comes at an unknown time is the packet that is known, and widens no window`() async throws {
        let (known, unknown) = (Self.text("hello"), Self.text("hello") { $0.rxTime = 0 })
        let later = Self.text("hello") { $0.rxTime += 3_601 }
        func firsts(_ packets: [Packet]) async throws -> [UInt64] {
            let ledger = try await Ledger.temporary()
            let source = try await ledger.log.source(named: "file:test")
            _ = try await ledger.log.append(
                packets.map { NewEvent($0.envelope(), encoding: .serviceEnvelope, source: source, reception: .unrecorded) })
            try await ledger.catchUp()
            let rows = try ledger.messages().sorted { $0.firstSequence < $1.firstSequence }
            try await ledger.close()
            return rows.map(\.firstSequence)
        }
        #expect(try await firsts([known, unknown, later, unknown, known]) == [1, 3])
        #expect(try await firsts([unknown, known, unknown, later, later]) == [1, 4])
        #expect(try await firsts([later, unknown, known, unknown]) == [1, 3])
        #expect(try await firsts([unknown, unknown]) == [1])
    }

    @Test func `a message without an id that is stored already takes another gateway, and goes beyond the cap`() async throws {
        let texts = (1...6).map { number in Self.text("text \(number)") { $0.rxTime += UInt32(number) } }
        let ledger = try await ledger(of: texts, options: LedgerOptions(caps: ViewCaps(messages: 4)))
        let source = try await ledger.log.source(named: "test")
        func hear(_ numbers: [Int], _ gateway: String) async throws {
            for number in numbers {
                var packet = texts[number - 1]
                packet.gateway = gateway
                _ = try await ledger.log.append(packet.event(source))
            }
            try await ledger.catchUp()
        }
        try await hear([2, 3, 6], "!00000012")
        try await hear([6], "!00000013")
        let rows = try ledger.messages().sorted { $0.time < $1.time }
        #expect(rows.map(\.text) == ["text 3", "text 4", "text 5", "text 6"] && rows.map(\.receptions) == [2, 1, 1, 3])
        try await ledger.maintenance.rebuild()
        #expect(try ledger.messages().sorted { $0.time < $1.time } == rows)
        try await ledger.close()
    }

    @Test func `a message in JSON without an id counts once, and beside its protobuf form as another`() async throws {
        let ledger = try await Ledger.temporary()
        let source = try await ledger.log.source(named: "msh/2/json/LongFast/!00000012")
        let line = #"{"from":268435457,"payload":{"text":"hi"},"sender":"!00000012","timestamp":1780000000,"type":"text"}"#
        func json(_ line: String) -> NewEvent { NewEvent(Array(line.utf8), encoding: .mqttJSON, source: source) }
        _ = try await ledger.log.append([
            json(line), json(line), json(line.replacing("hi", with: "ho")), Self.text("hi").event(source), json(line),
        ])
        try await ledger.catchUp()
        let rows = try ledger.messages().sorted { $0.firstSequence < $1.firstSequence }
        #expect(rows.map(\.firstSequence) == [1, 3, 4] && rows.map(\.receptions) == [1, 1, 1])
        try await ledger.close()
    }

    @Test func `an earlier reception replaces the position as of an event, too`() async throws {
        let places = [UInt32(0), 60, 120].map { earlier in
            Packet(
                id: 0, rxTime: Self.heard - earlier, port: Port.position, payload: Packet.position(1_000, 5),
                gateway: NodeID.text(0x11 + earlier))
        }
        let ledger = try await ledger(of: places)
        #expect(try ledger.positions(of: nil).map(\.time) == [Self.heard - 120])
        for (sequence, earlier) in [(UInt64(1), UInt32(0)), (2, 60)] {
            #expect(try ledger.asOf(.sequence(sequence)).positions(of: nil).map(\.time) == [Self.heard - earlier])
        }
        try await ledger.close()
    }
}
