import EventLog
import MeshLedger
import Meshtastic
import Testing

struct TraceRoutes {
    private typealias Packet = MeshPacketBuilder

    private static let start: UInt32 = 1_780_000_000
    private static let unknown = UInt32.max

    private func question(_ payload: [UInt8], id: UInt32 = 7, at seconds: UInt32 = 0, gateway: String = "!00000011") -> Packet {
        Packet(
            from: 1_001, to: 1_009, id: id, rxTime: Self.start + seconds, port: Port.traceroute, payload: payload,
            gateway: gateway)
    }

    private func answer(
        _ payload: [UInt8], from: UInt32 = 1_009, id: UInt32 = 8, at seconds: UInt32 = 10, gateway: String = "!00000011"
    ) -> Packet {
        Packet(
            from: from, to: 1_001, id: id, rxTime: Self.start + seconds, port: Port.traceroute, payload: payload, requestID: 7,
            gateway: gateway)
    }

    private func only(_ packets: [Packet]) async throws -> TraceRouteRow {
        let ledger = try await ledger(of: packets)
        let rows = try ledger.traceRoutes()
        #expect(rows.count == 1)
        let row = try #require(rows.first)
        #expect(try ledger.traceRoute(id: 7, from: 1_001) == row)
        try await ledger.close()
        return row
    }

    private func text(_ hops: [TraceRouteRow.Hop]) -> String {
        hops.map { "\($0.node.map { "\($0)" } ?? "?")/\($0.snr.map { "\($0)" } ?? "?")" }.joined(separator: " ")
    }

    @Test(arguments: [false, true]) func `M20: question and answer are one trace route, whichever comes first`(isReversed: Bool)
        async throws
    {
        let packets = [
            question(Packet.route([1_002], [21])),
            answer(Packet.route([1_002, Self.unknown], [21, -128, -8], back: [1_004], [12, 3])),
        ]
        let row = try await only(isReversed ? packets.reversed() : packets)
        #expect((row.from, row.to, row.id, row.isAnswered, row.replyID) == (1_001, 1_009, 7, true, 8))
        #expect(text(row.towards) == "1001/? 1002/5.25 ?/? 1009/-2.0")
        #expect(text(row.back) == "1009/? 1004/3.0 1001/0.75")
        #expect((row.replyTime, row.channel) == (Self.start + 10, "LongFast"))
        #expect(row.time == Self.start)  // of the earliest reception, of which the log may hold the event later
        #expect((row.requestSequence, row.replySequence) == (isReversed ? (2, 1) : (1, 2)))
    }

    @Test func `M20: a trace route keeps where its nodes were when the answer came`() async throws {
        func position(_ node: UInt32, _ latitude: Int32, at seconds: UInt32) -> Packet {
            Packet(
                from: node, id: 900 + seconds, rxTime: Self.start + seconds, port: Port.position,
                payload: Packet.position(latitude, 7))
        }
        let asked = [position(1_001, 10, at: 0), position(1_005, 50, at: 1), question(Packet.route(), at: 2)]
        let open = try await only(asked)
        #expect(open.places.map { [Int($0.node), Int($0.latitudeE7)] } == [[1_001, 10]])
        let answered =
            asked + [
                position(1_001, 11, at: 5), position(1_009, 90, at: 6), position(1_001, 8, at: 3),
                answer(Packet.route([1_005], [20, 24]), at: 10), position(1_001, 12, at: 20), position(1_005, 51, at: 21),
                position(1_006, 60, at: 22),
                answer(Packet.route([1_005], [20, 24], back: [1_006], [4]), at: 10, gateway: "!00000012"),
            ]
        let row = try await only(answered)
        // What a later reception tells of the way back comes with its own places; those that are known stay.
        #expect(
            row.places.map { [Int($0.node), Int($0.latitudeE7)] } == [[1_001, 11], [1_009, 90], [1_005, 50], [1_006, 60]])
        #expect(
            row.place(of: 1_005).map { ($0.time, $0.longitudeE7) == (Self.start + 1, 7) } == true && row.place(of: nil) == nil)
    }

    @Test func `M20: of all receptions of a packet the longest way counts`() async throws {
        let row = try await only([
            question(Packet.route([1_002, 1_003], [4, 8]), gateway: "!00000011"),
            question(Packet.route([1_002], [4]), at: 1, gateway: "!00000012"),
        ])
        #expect(!row.isAnswered && row.back.isEmpty && row.sequence == 1)
        #expect(text(row.towards) == "1001/? 1002/1.0 1003/2.0")
        let full = Packet.route([1_002, 1_003], [4, 8, 12], back: [1_003, 1_002], [1, 2, 3])
        let back = try await only([
            question(Packet.route([1_002, 1_003, 1_004, 1_005], [1, 2, 3, 4])),
            answer(Packet.route([1_002, 1_003], [4, 8, 12])),
            answer(full, at: 11, gateway: "!00000012"),
            answer(Packet.route([1_002], [4], back: [9], [1]), at: 12, gateway: "!00000013"),
            question(Packet.route([1_002, 1_003, 1_004, 1_005, 1_006], []), at: 13, gateway: "!00000014"),
        ])
        // What the answer says of the way there is true even where it is the shorter one.
        #expect(text(back.towards) == "1001/? 1002/1.0 1003/2.0 1009/3.0")
        #expect(text(back.back) == "1009/? 1003/0.25 1002/0.5 1001/0.75")
        #expect(back.sequence == 3)
    }

    @Test func `an answer of another node or to everybody is none, and a second answer changes nothing`() async throws {
        let row = try await only([
            question(Packet.route()), answer(Packet.route([5], [1, 2]), from: 1_008), answer(Packet.route([6], [1, 2])),
            answer(Packet.route([7, 8], [1, 2, 3]), id: 9),
        ])
        #expect((row.to, row.route, row.replyID) == (1_009, [6], 8))
        var toAll = answer(Packet.route([5], [1, 2]))
        toAll.to = NodeID.broadcast
        #expect(try await !only([question(Packet.route()), toAll]).isAnswered)
    }

    @Test func `the same id after an hour is another question`() async throws {
        let later = question(Packet.route(), at: 4_000)
        let row = try await only([question(Packet.route([5], [1])), answer(Packet.route([5], [1, 2])), later])
        #expect((row.time, row.isAnswered, row.route, row.firstSequence) == (Self.start + 4_000, false, [], 3))
        let earlier = try await only([later, question(Packet.route([5], [1])), answer(Packet.route([5], [1, 2]))])
        #expect((earlier.time, earlier.isAnswered, earlier.firstSequence) == (Self.start + 4_000, false, 1))
    }

    @Test func `lists that are too long are cut, and strengths of a wrong number are of nobody`() async throws {
        let long = try await only([question(Packet.route((1...40).map { $0 }, (1...40).map { $0 }))])
        #expect(long.route == (1...16).map { $0 } && long.snrTowards == (1...17).map { $0 })
        let odd = try await only([answer(Packet.route([1_002, 1_003], [4]))])
        #expect(text(odd.towards) == "1001/? 1002/? 1003/? 1009/?")
    }

    @Test func `trace routes are asked for by node, hop, channel and time, the newest first, at most the cap of them`()
        async throws
    {
        var packets = (1...5).map { question(Packet.route([2_000 + $0], [1]), id: $0, at: $0) }
        packets[1].from = 1_005
        packets[2].channel = "MediumFast"
        let ledger = try await ledger(of: packets, options: LedgerOptions(caps: ViewCaps(traceRoutes: 4)))
        #expect(try ledger.traceRoutes().map(\.id) == [5, 4, 3, 2])
        #expect(try ledger.traceRoutes(of: 1_005).map(\.id) == [2])
        #expect(try ledger.traceRoutes(through: 2_004).map(\.id) == [4])
        #expect(try ledger.traceRoutes(RowQuery(channel: "MediumFast")).map(\.id) == [3])
        #expect(try ledger.traceRoutes(RowQuery(since: Timestamp(seconds: Int64(Self.start) + 4))).map(\.id) == [5, 4])
        try await ledger.close()
    }

    @Test func `a trace route whose time an earlier reception took back is the one that goes beyond the cap`() async throws {
        let packets = [(1, 100), (2, 200), (3, 300), (3, 150), (4, 250)].map { question(Packet.route(), id: $0.0, at: $0.1) }
        let ledger = try await ledger(of: packets, options: LedgerOptions(caps: ViewCaps(traceRoutes: 2)))
        #expect(try ledger.traceRoutes().map(\.id) == [4, 2])
        try await ledger.close()
    }
}
