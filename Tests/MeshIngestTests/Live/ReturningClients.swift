import EventLog
import Foundation
import MeshLedger
import Meshtastic
import ProtobufWire
import Synchronization
import TestKit
import Testing

@testable import MeshIngest

/// What clients of a shared radio get that were away, and what new ones see of its nodes and settings.
@Suite(.timeLimit(.minutes(3)))
struct ReturningClients {
    private typealias Radio = SharedRadioTests.Radio
    private let sharing = SharedRadioTests()

    private static func ids(_ range: Range<UInt32>) -> [[UInt8]] { range.map { FakeRadio.text($0) } }

    /// A client connects, gets two packets and leaves.
    private func visit(_ port: UInt16, _ radio: Radio, _ running: RunningSource<SharedRadio>) async throws {
        var client: StreamClient? = try await StreamClient.connected(to: port)
        await client?.greet(1)
        radio.say(0..<2)
        #expect(await client?.next(2) == Self.ids(0..<2))
        client = nil
        try await eventually { running.source.clientCount == 0 }
    }

    @Test func `a client that was away beside a busy source misses nothing`() async throws {
        let (bench, radio) = (try ImportBench(), try Radio())
        defer { radio.radio.stop() }
        let (running, port) = try sharing.share(radio, bench)
        try await visit(port, radio, running)
        radio.say(2..<12)
        try await eventually { try bench.events().count { FromRadioGlance(Array($0.payload)).kind == .packet } == 12 }
        let busy = try await bench.log.source(named: "busy")
        let event = NewEvent(FakeRadio.text(900), encoding: PayloadEncoding(.fromRadio), source: busy)
        for _ in 0..<60 { _ = try await bench.log.append([NewEvent](repeating: event, count: 1_000)) }
        radio.say(12..<14)
        let back = try await StreamClient.connected(to: port)
        await back.greet(2)
        #expect(await back.next(12) == Self.ids(2..<14))
        try await running.stop()
    }

    @Test func `a client that comes back at once gets each packet once`() async throws {
        let (bench, radio) = (try ImportBench(), try Radio())
        defer { radio.radio.stop() }
        let (running, port) = try sharing.share(radio, bench)
        for session in 0..<40 as Range<UInt32> {
            let client = try await StreamClient.connected(to: port)
            await client.greet(1)
            radio.say(session * 2..<session * 2 + 2)
            #expect(await client.next(2) == Self.ids(session * 2..<session * 2 + 2), "\(session)")
            client.leave()
        }
        try await running.stop()
    }

    @Test func `a share that ends while clients connect ends them, and begins again`() async throws {
        let (bench, radio) = (try ImportBench(), try Radio())
        defer { radio.radio.stop() }
        let (running, port) = try sharing.share(radio, bench)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<3 {
                group.addTask {
                    while !Task.isCancelled {
                        let client = try? await StreamClient.connected(to: port)  // nobody listens for a moment
                        await client?.greet(1)
                    }
                }
            }
            for _ in 0..<40 {
                try? await eventually { running.source.clientCount > 0 }  // its failure is that of the end
                running.source.share(nil)
                running.source.share(ShareOptions(port: port))
            }
            group.cancelAll()
        }
        let client = try await StreamClient.connected(to: port)
        #expect(await client.greet(7).last == FakeRadio.complete(7))
        try await running.stop()
    }

    @Test func `a client that missed more packets than clients get is given the last ones, and the log says so`()
        async throws
    {
        let (bench, radio) = (try ImportBench(), try Radio())
        let lines = Mutex<[String]>([])
        defer { radio.radio.stop() }
        let (running, port) = try sharing.share(
            radio, bench, { $0.mostMissed = 20 }, lines: { line in lines.withLock { $0.append(line) } })
        try await visit(port, radio, running)
        radio.say(2..<27)
        try await eventually { try bench.events().count { FromRadioGlance(Array($0.payload)).kind == .packet } == 27 }
        let back = try await StreamClient.connected(to: port)
        await back.greet(2)
        #expect(await back.next(20) == Self.ids(7..<27))
        let text = "client 127.0.0.1 missed more than 20 packets, and gets the last 20; the log has all"
        #expect(lines.withLock { $0.contains(text) })
        try await running.stop()
    }

    @Test(arguments: [false, true])
    func `two clients of one computer miss nothing, whichever comes back first`(_ isLaterFirst: Bool) async throws {
        let (bench, radio) = (try ImportBench(), try Radio())
        defer { radio.radio.stop() }
        let (running, port) = try sharing.share(radio, bench)
        var one: StreamClient? = try await StreamClient.connected(to: port)
        var two: StreamClient? = try await StreamClient.connected(to: port)
        await one?.greet(1)
        await two?.greet(2)
        radio.say(0..<5)
        for client in [one, two] { #expect(await client?.next(5) == Self.ids(0..<5)) }
        one = nil
        try await eventually { running.source.clientCount == 1 }
        radio.say(5..<15)
        #expect(await two?.next(10) == Self.ids(5..<15))
        two = nil
        try await eventually { running.source.clientCount == 0 }
        radio.say(15..<18)
        var had: [UInt32] = isLaterFirst ? [15, 5] : [5, 15]
        while let place = had.first {
            had.removeFirst()
            let back = try await StreamClient.connected(to: port)
            await back.greet(3)
            var got: [[UInt8]] = []
            while let frame = await back.next() {
                got.append(frame)
                if frame == FakeRadio.text(17) { break }
            }
            #expect(got.suffix(18 - Int(place)) == Self.ids(place..<18)[...])
        }
        try await running.stop()
    }

    private static func introduction(of node: UInt32, _ user: [UInt8]) -> [UInt8] {
        var writer = WireWriter()
        writer.message(2) { packet in
            packet.fixed32(1, node)
            packet.fixed32(2, .max)
            packet.message(4) {
                $0.uint32(1, 4)
                $0.bytes(2, user)
            }
            packet.fixed32(6, node)
            packet.fixed32(7, 1_700_000_000)
            packet.float(8, 6.5)
        }
        return writer.bytes
    }

    private static func user(_ name: String) -> [UInt8] {
        var writer = WireWriter()
        writer.string(1, "!00000009")
        writer.string(2, name)
        return writer.bytes
    }

    @Test func `a new client gets nodes that were heard since the start, with what they say of themselves`() async throws {
        let (bench, radio) = (try ImportBench(), try Radio())
        defer { radio.radio.stop() }
        let (running, port) = try sharing.share(radio, bench)
        let first = try await StreamClient.connected(to: port)
        #expect(await first.greet(ConfigNonce.nodes).count == 2)
        // A name that is no text would end official clients.
        for frame in [
            Self.introduction(of: 9, Self.user("Newcomer")), Self.introduction(of: 10, [0x12, 2, 0xff, 0xfe]), FakeRadio.text(1),
        ] { radio.send(frame) }
        #expect(await first.next(3).last == FakeRadio.text(1))
        let second = try await StreamClient.connected(to: port)
        let answer = await second.greet(ConfigNonce.nodes)
        func node(_ number: UInt32, _ body: (inout WireWriter) -> Void) -> [UInt8] {
            var writer = WireWriter()
            writer.message(4) {
                $0.uint32(1, number)
                body(&$0)
            }
            return writer.bytes
        }
        let introduced = node(9) {
            $0.bytes(2, Self.user("Newcomer"))
            $0.float(4, 6.5)
            $0.fixed32(5, 1_700_000_000)
        }
        let repaired = node(10) {
            $0.message(2) { $0.string(2, "\u{fffd}\u{fffd}") }
            $0.float(4, 6.5)
            $0.fixed32(5, 1_700_000_000)
        }
        #expect(answer == [node(5) { _ in }, FakeRadio.nodeInfo(7), introduced, repaired, FakeRadio.complete(ConfigNonce.nodes)])
        try await running.stop()
    }

    private static func admin(_ id: UInt32, field: UInt32) -> [UInt8] {
        var writer = WireWriter()
        writer.message(1) { packet in
            packet.fixed32(2, 0x1000_0001)
            packet.message(4) { data in
                data.uint32(1, 6)
                data.message(2) { $0.message(field) { $0.uint32(1, 1) } }
            }
            packet.fixed32(6, id)
        }
        return writer.bytes
    }

    @Test func `after a client has changed settings, the radio is asked again, and new clients see what it says`() async throws {
        let (bench, radio) = (try ImportBench(), try Radio())
        defer { radio.radio.stop() }
        let (running, port) = try sharing.share(radio, bench) { $0.admins = NetworkRange.loopback }
        let client = try await StreamClient.connected(to: port)
        await client.greet(1)
        radio.set(key: [UInt8](17...32))
        // A request for settings, and two changes together.
        client.send(frame: Self.admin(3, field: 5))
        for id in 4...5 as ClosedRange<UInt32> { client.send(frame: Self.admin(id, field: 33)) }
        #expect(await client.next(3) == (3...5).map { FakeRadio.queueStatus(packet: $0) })
        try await eventually { radio.asked.all == [ToRadioMessage.wantConfig(ConfigNonce.configuration)] }
        try await eventually { running.source.memory.answer(to: 1)?.contains(FakeRadio.channel([UInt8](17...32))) == true }
        let next = try await StreamClient.connected(to: port)
        #expect(await next.greet(2).contains(FakeRadio.channel([UInt8](17...32))))
        #expect(radio.asked.all.count == 1)
        try await running.stop()
    }
}
