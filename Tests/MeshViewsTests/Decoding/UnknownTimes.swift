import EventLog
import MeshLedger
import Meshtastic
import Synchronization
import Testing

/// Files that record no reception time, with clocks that show nothing or nonsense.
struct UnknownTimes {
    private typealias Packet = MeshPacketBuilder
    private static let heard: UInt32 = 1_740_000_000

    /// The same packet, heard by as many gateways, each with such a clock.
    private func messages(_ clocks: [UInt32]) async throws -> [MessageRow] {
        let ledger = try await Ledger.temporary()
        let source = try await ledger.log.source(named: "file:test")
        let events = clocks.enumerated().map { index, clock in
            let packet = Packet(rxTime: clock, payload: Array("hello".utf8), gateway: NodeID.text(0x11 + UInt32(index)))
            return NewEvent(packet.envelope(), encoding: .serviceEnvelope, source: source, reception: .unrecorded)
        }
        _ = try await ledger.log.append(events)
        try await ledger.catchUp()
        let rows = try ledger.messages()
        try await ledger.close()
        return rows.sorted { $0.sequence < $1.sequence }
    }

    @Test(arguments: [0, 86_400, 2_650_000_000, heard + 400_000_000] as [UInt32])
    func `a copy from a receiver without a clock is a reception of the same packet`(clock: UInt32) async throws {
        for clocks in [[Self.heard, clock, Self.heard + 2], [clock, Self.heard, clock]] {
            let rows = try await messages(clocks)
            #expect(rows.map(\.receptions) == [3])
        }
    }

    @Test func `a reception says which clock its time is of`() async throws {
        let ledger = try await Ledger.temporary()
        let source = try await ledger.log.source(named: "file:test")
        let recorded = Reception.recorded(Timestamp(seconds: Int64(Self.heard)))
        let clocks: [(UInt32, Reception)] = [(Self.heard, .live), (0, recorded), (Self.heard + 1, .unrecorded), (0, .unrecorded)]
        let events = clocks.enumerated().map { index, clock in
            let packet = Packet(id: 9, rxTime: clock.0, payload: [65], gateway: NodeID.text(0x11 + UInt32(index)))
            return NewEvent(packet.envelope(), encoding: .serviceEnvelope, source: source, reception: clock.1)
        }
        _ = try await ledger.log.append(events)
        try await ledger.catchUp()
        let receptions = try ledger.receptions(of: 9).sorted { $0.sequence < $1.sequence }
        #expect(receptions.map(\.heardSource) == [.arrival, .recorded, .receiver, .imported])
        try await ledger.close()
    }

    @Test func `a reply that was heard is of that time, even if one of unknown time was imported before`() async throws {
        let clock = Atomic(Int64(Self.heard))
        let ledger = try await Ledger.temporary(
            options: LedgerOptions(log: EventLogOptions(clock: { Timestamp(seconds: clock.load(ordering: .relaxed)) })))
        let source = try await ledger.log.source(named: "file:test")
        func hear(_ gateway: UInt32, _ reception: Reception) async throws {
            let answer = Packet(
                from: 1_009, to: 1_001, id: 8, rxTime: 0, port: Port.traceroute, payload: Packet.route([1_002], [21, 22]),
                requestID: 7,
                gateway: NodeID.text(gateway))
            _ = try await ledger.log.append(
                NewEvent(answer.envelope(), encoding: .serviceEnvelope, source: source, reception: reception))
            try await ledger.catchUp()
        }
        try await hear(0x11, .unrecorded)
        let imported = try #require(try ledger.traceRoutes().first)
        #expect(imported.replyTime == Self.heard)
        clock.store(Int64(Self.heard) + 60, ordering: .relaxed)
        try await hear(0x12, .live)
        let heard = try #require(try ledger.traceRoutes().first)
        #expect(heard.replyTime == Self.heard + 60)
        try await ledger.close()
    }

    @Test func `the first time that is known opens the window`() async throws {
        let rows = try await messages([0, Self.heard, 0, Self.heard + 3_600, Self.heard + 3_601, 0])
        #expect(rows.map(\.firstSequence) == [1, 5])
        #expect(rows.map(\.receptions) == [4, 2])
    }

    /// Imported today, of which the packets without a clock came first or last.
    private func imported(_ packets: [Packet], _ unknown: [Packet], isUnknownFirst: Bool, _ caps: ViewCaps = ViewCaps())
        async throws -> Ledger
    {
        let clock = Timestamp(seconds: Int64(Self.heard) + 900_000)
        return try await ledger(
            of: isUnknownFirst ? unknown + packets : packets + unknown,
            options: LedgerOptions(log: EventLogOptions(clock: { clock }), caps: caps))
    }

    @Test(arguments: [false, true])
    func
        `a node, gateway, link, channel and map report was last heard when that is known, not when a packet without a time was imported`(
            isUnknownFirst: Bool
        ) async throws
    {
        func packet(_ id: UInt32, _ time: UInt32, from: UInt32 = 0x11, _ port: UInt32 = Port.text, _ payload: [UInt8] = [65])
            -> Packet
        {
            Packet(from: from, id: id, rxTime: time, port: port, payload: payload, hopLimit: 3, hopStart: 3, snr: Float(id))
        }
        let ledger = try await imported(
            [
                packet(1, Self.heard), packet(2, Self.heard + 60),
                packet(3, Self.heard + 30, Port.mapReport, Packet.mapReport("known")),
            ],
            [
                packet(4, 0, Port.mapReport, Packet.mapReport("unknown")),
                packet(5, 0, Port.position, Packet.position(1_000, 2_000)),
                packet(6, 0, from: 0x12),
            ], isUnknownFirst: isUnknownFirst)
        let node = try #require(try ledger.node(0x11))
        #expect((node.firstHeard, node.lastHeard, node.isTimeOfImport) == (Self.heard, Self.heard + 60, false))
        #expect(node.longName == "known" && node.snr == 2)
        let gateway = try #require(try ledger.gateways().first)
        #expect((gateway.firstTime, gateway.time, gateway.isTimeOfImport) == (Self.heard, Self.heard + 60, false))
        let link = try #require(try ledger.link(hearer: gateway.gateway, heard: 0x11))
        #expect((link.firstTime, link.time, link.snr, link.direct) == (Self.heard, Self.heard + 60, 2, 5))
        #expect(link.samples.map(\.time) == [Self.heard])
        let channel = try #require(try ledger.channels().first)
        #expect((channel.firstHeard, channel.lastHeard, channel.receptions) == (Self.heard, Self.heard + 60, 6))
        let report = try #require(try ledger.mapReports().first)
        #expect(
            (report.longName, report.firstTime, report.time, report.reports) == ("known", Self.heard + 30, Self.heard + 30, 2))
        // All that is known of this one is when it was imported.
        let other = try #require(try ledger.node(0x12))
        #expect(other.isTimeOfImport && other.lastHeard == Self.heard + 900_000)
        #expect(try ledger.latestPosition(of: 0x11)?.timeSource == .import, "the only one that there is")
        #expect(try ledger.link(hearer: gateway.gateway, heard: 0x12)?.isTimeOfImport == true)
        try await ledger.maintenance.rebuild()
        #expect(try ledger.node(0x11) == node)
        try await ledger.close()
    }

    @Test(arguments: [false, true])
    func `the latest position is one of which it is known when it was heard`(isUnknownFirst: Bool) async throws {
        let ledger = try await imported(
            [Packet(from: 0x11, id: 1, rxTime: Self.heard, port: Port.position, payload: Packet.position(1_000, 2_000))],
            (2...40).map { Packet(from: 0x11, id: $0, rxTime: 0, port: Port.position, payload: Packet.position(5_000, 6_000)) },
            isUnknownFirst: isUnknownFirst)
        #expect(try ledger.latestPosition(of: 0x11)?.packetID == 1 && ledger.positions(of: 0x11).count == 40)
        #expect(try ledger.latestPositions().map(\.packetID) == [1])
        try await ledger.close()
    }

    @Test(arguments: [false, true])
    func `a message takes the first time that is known, also of a later reception`(isUnknownFirst: Bool) async throws {
        let hello = Packet(from: 0x11, id: 1, rxTime: 0, payload: [72, 105], gateway: "!00000012")
        var known = hello
        (known.rxTime, known.gateway) = (Self.heard, "!00000013")
        let ledger = try await imported([known], [hello], isUnknownFirst: isUnknownFirst)
        let message = try #require(try ledger.messages().first)
        #expect((message.time, message.timeSource, message.receptions) == (Self.heard, .receiver, 2))
        #expect(message.gateways == [0x13, 0x12], "one without a clock comes after those that say when")
        #expect(try ledger.messages().count == 1)
        try await ledger.close()
    }

    @Test func `beyond a cap, what has the time of an import goes first`() async throws {
        let known = (1...3).map { Packet(from: 0x10 + $0, id: $0, rxTime: Self.heard + $0, gateway: NodeID.text(0x50 + $0)) }
        let unknown = (4...6).map { Packet(from: 0x10 + $0, id: $0, rxTime: 0, gateway: NodeID.text(0x50 + $0)) }
        for isUnknownFirst in [false, true] {
            let ledger = try await imported(known, unknown, isUnknownFirst: isUnknownFirst, ViewCaps(gateways: 3))
            #expect(try ledger.gateways().map(\.gateway).sorted() == [0x51, 0x52, 0x53], "\(isUnknownFirst)")
            try await ledger.close()
        }
    }

    /// A series goes by its keys, in which the time of an import, as it is late, comes last.
    @Test(arguments: [false, true])
    func `beyond the cap of a series rows go by their times, that of an import like any other`(isUnknownFirst: Bool) async throws
    {
        func place(_ id: UInt32, _ time: UInt32) -> Packet {
            Packet(from: 0x11, id: id, rxTime: time, port: Port.position, payload: Packet.position(1_000, 2_000))
        }
        let ledger = try await imported(
            (1...3).map { place($0, Self.heard + $0) }, (4...5).map { place($0, 0) }, isUnknownFirst: isUnknownFirst,
            ViewCaps(positions: 3))
        #expect(try ledger.positions(of: 0x11).map(\.packetID).sorted() == [3, 4, 5])
        #expect(try ledger.latestPosition(of: 0x11)?.packetID == 3, "the latest one that is known")
        try await ledger.close()
    }

    @Test func `two contents of one id are in conflict only where it is known that both came within the hour`() async throws {
        func conflicts(_ one: UInt32, _ other: UInt32) async throws -> [Bool] {
            let packets = [(one, "at eight"), (other, "at nine")].map { Packet(rxTime: $0, payload: Array($1.utf8)) }
            let ledger = try await imported(packets, [], isUnknownFirst: false)
            let found = try ledger.messages().map(\.hasConflict) + ledger.packets().map(\.hasConflict)
            try await ledger.close()
            return found
        }
        #expect(try await conflicts(Self.heard, Self.heard + 5) == [true, true, true, true])
        for (one, other) in [(0, Self.heard), (Self.heard, 0), (0, 0), (Self.heard, Self.heard + 3_601)] as [(UInt32, UInt32)] {
            #expect(try await conflicts(one, other) == [false, false, false, false], "\(one) \(other)")
        }
    }

    @Test func `a packet of port 0 is counted, unreadable and in quarantine; nobody is node 0`() async throws {
        let ledger = try await ledger(of: [
            Packet(id: 1, port: 0, payload: [1]), Packet(id: 1, payload: Array("hello".utf8), gateway: "!00000012"),
            Packet(from: 0, id: 3, port: Port.position, payload: Packet.position(1_000, 2_000)),
            Packet(id: 2, port: 0, payload: [1]),
        ])
        #expect(try ledger.maintenance.quarantine().map(\.sequence).sorted() == [1, 4])
        let node = try #require(try ledger.node(0x1000_0001))
        // The first packet turned readable in its second reception, the other one stays unreadable.
        #expect((node.packets, node.receptions, node.unreadable) == (2, 3, 1))
        #expect(try ledger.messages().map(\.receptions) == [2])
        #expect(try ledger.nodes().count == 1)
        #expect(try ledger.positions(of: nil).isEmpty)
        try await ledger.close()
    }
}
