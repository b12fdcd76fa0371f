import EventLog
import Foundation
import MeshLedger
import Meshtastic
import ProtobufWire
import Synchronization
import TestKit
import Testing

@testable import MeshIngest

/// Clients of a shared radio that vanish, and what they sent while the radio was away.
@Suite(.timeLimit(.minutes(3)))
struct AbsentClients {
    private typealias Radio = SharedRadioTests.Radio
    private let sharing = SharedRadioTests()

    /// What the computer of a client may have taken that does not read.
    private static let smallBuffer: Int32 = 2_048
    /// More packets than that buffer holds.
    private static let mostTaken = 400

    private typealias Lines = SharedRadioTests.Lines

    /// A client that has asked for the configuration, and reads nothing by itself.
    private func asking(_ port: UInt16) async throws -> StreamClient {
        let client = try await StreamClient.connected(to: port, receiveBuffer: Self.smallBuffer)
        await client.greet(1)
        return client
    }

    /// A client that has the configuration of a radio which is away since.
    private func clientWithoutRadio(
        _ radio: Radio, _ bench: ImportBench, _ change: (inout ShareOptions) -> Void = { _ in },
        lines: @escaping @Sendable (String) -> Void = { _ in }
    ) async throws -> (running: RunningSource<SharedRadio>, client: StreamClient) {
        let (running, port) = try sharing.share(radio, bench, change, lines: lines)
        let client = try await StreamClient.connected(to: port)
        await client.greet(1)
        radio.leave()
        try await eventually { running.source.status.state == .waiting }
        return (running, client)
    }

    private static func id(_ frame: [UInt8]?) -> Int? {
        frame.flatMap { frame in (0..<4_000).first { FakeRadio.text(UInt32($0)) == frame } }
    }

    @Test(arguments: [false, true])
    func `a client that reads nothing for a while and comes back misses nothing`(_ isConnectedStill: Bool) async throws {
        let (bench, radio) = (try ImportBench(), try Radio())
        defer { radio.radio.stop() }
        let (running, port) = try sharing.share(radio, bench) { $0.stallSeconds = 0.5 }
        let client = try await asking(port)
        radio.say(0..<10)
        #expect(await client.next(10).count == 10)
        radio.say(10..<3_000)
        try await eventually { try bench.events().count >= 3_000 }
        // The server's clock decides when a client stalls, and nothing shows that it has: time alone makes it so.
        try await Task.sleep(for: .seconds(1.5))
        if !isConnectedStill {
            client.reset()
            try await eventually { running.source.clientCount == 0 }
        }
        let back = try await StreamClient.connected(to: port)
        await back.greet(2)
        let first = try #require(Self.id(await back.next()))
        #expect(first <= 10 + Self.mostTaken, "\(first)")
        let rest = await back.next(2_999 - first)
        #expect(rest == (first + 1..<3_000).map { FakeRadio.text(UInt32($0)) })
        // The dead connection does not stay.
        try await eventually { running.source.clientCount == 1 }
        try await running.stop()
        withExtendedLifetime(client) {}
    }

    @Test func `a client that takes no byte for long is disconnected, and another from its address continues there`() async throws
    {
        let (bench, radio) = (try ImportBench(), try Radio())
        defer { radio.radio.stop() }
        let (running, port) = try sharing.share(radio, bench) { $0.patienceSeconds = 1 }
        let client = try await asking(port)
        radio.say(0..<3_000)
        try await eventually { running.source.clientCount == 0 }
        let back = try await StreamClient.connected(to: port)
        await back.greet(2)
        let first = try #require(Self.id(await back.next()))
        #expect(first <= Self.mostTaken)
        try await running.stop()
        withExtendedLifetime(client) {}
    }

    @Test func `what a client sends while the radio is away is logged at the stop, and sent after a restart`() async throws {
        let (bench, radio, lines) = (try ImportBench(), try Radio(isAskedAll: true), Lines())
        defer { radio.radio.stop() }
        let (first, client) = try await clientWithoutRadio(radio, bench, lines: { lines.add($0) })
        for id in 55...56 as ClosedRange<UInt32> { client.send(frame: SharedRadioTests.packet(id)) }
        try await eventually { try bench.events().count { $0.header.encoding == PayloadEncoding(.meshPacket) } == 2 }
        try await first.stop()
        #expect(lines.contains("the radio has not accepted 2 packets (2 of client 127.0.0.1)"))
        radio.comeBack()
        let (second, _) = try sharing.share(radio, bench, lines: { lines.add($0) })
        let own = SharedRadioTests.sent(55...56).map(ToRadioMessage.packet)
        // The radio's answer is what takes a packet out of the queue.
        try await eventually { radio.heard.all == own && second.source.outbox.events.isEmpty }
        #expect(lines.contains("the radio gets 2 packets (2 of client 127.0.0.1) from before the start"))
        try await second.stop()
        // It has them now.
        let (third, there) = try sharing.share(radio, bench)
        let last = try await StreamClient.connected(to: there)
        await last.greet(3)
        last.send(frame: SharedRadioTests.packet(57))
        #expect(await last.next() == FakeRadio.queueStatus(packet: 57))
        #expect(radio.heard.all == own + SharedRadioTests.sent(57...57).map(ToRadioMessage.packet))
        try await third.stop()
    }

    /// The client's packets that the log says were not sent, by their numbers, in order.
    private static func unsent(_ bench: ImportBench) throws -> [Event] {
        let source = try bench.log.sources().first { $0.name.hasSuffix("/client 127.0.0.1") }
        return try bench.events().filter {
            $0.header.source == source?.id && $0.header.encoding == PayloadEncoding(.fromRadio)
        }
    }

    private static func states(_ bench: ImportBench) async throws -> [UInt32: DeliveryState] {
        let ledger = try await Ledger.temporary()
        for event in try bench.events() {
            let source = try await ledger.log.source(named: "\(event.header.source)")
            _ = try await ledger.log.append([NewEvent(event.payload, encoding: event.header.encoding, source: source)])
        }
        try await ledger.catchUp()
        let states = try ledger.messages().map { ($0.id, $0.state) }
        try await ledger.close()
        return Dictionary(uniqueKeysWithValues: states)
    }

    @Test func `what is too old to be sent after a restart is shown as failed, once, and its client learns of it`() async throws {
        let (bench, radio, lines) = (try ImportBench(), try Radio(isAskedAll: true), Lines())
        defer { radio.radio.stop() }
        let (first, client) = try await clientWithoutRadio(radio, bench)
        for id in 55...56 as ClosedRange<UInt32> { client.send(frame: SharedRadioTests.packet(id)) }
        try await eventually { try bench.events().count { $0.header.encoding == PayloadEncoding(.meshPacket) } == 2 }
        try await first.stop()
        #expect(try await Self.states(bench) == [55: .sent, 56: .sent])
        radio.comeBack()
        for number in 2...3 as ClosedRange<UInt32> {
            let (next, there) = try sharing.share(radio, bench, { $0.oldestUnsentSeconds = 0 }, lines: { lines.add($0) })
            let back = try await StreamClient.connected(to: there)
            await back.greet(number)
            let unsent = try Self.unsent(bench).map { Array($0.payload) }
            #expect(unsent.count == 2)
            if number == 2 {
                #expect(await back.next(2) == unsent)
            }
            radio.say(number..<number + 1)
            #expect(await back.next() == FakeRadio.text(number))
            try await next.stop()
        }
        #expect(lines.contains("2 packets (2 of client 127.0.0.1) from before the start will not be sent"))
        #expect(radio.heard.all.isEmpty)
        #expect(try await Self.states(bench).filter { $0.key > 50 } == [55: .failed, 56: .failed])
    }

    @Test func `what waits too long for a radio that is away is shown as failed, its client learns of it, and it is not sent`()
        async throws
    {
        let (bench, radio, lines) = (try ImportBench(), try Radio(), Lines())
        defer { radio.radio.stop() }
        let (running, client) = try await clientWithoutRadio(
            radio, bench, { $0.oldestUnsentSeconds = 1 }, lines: { lines.add($0) })
        for id in 55...56 as ClosedRange<UInt32> { client.send(frame: SharedRadioTests.packet(id)) }
        let answers = await client.next(2)
        #expect(try answers == Self.unsent(bench).map { Array($0.payload) })
        try await eventually { lines.contains("2 packets (2 of client 127.0.0.1) will not be sent") }
        #expect(try await Self.states(bench).filter { $0.key > 50 } == [55: .failed, 56: .failed])
        radio.comeBack()
        try await eventually { running.source.status.state == .live }
        client.send(frame: SharedRadioTests.packet(57))
        #expect(await client.next() == FakeRadio.queueStatus(packet: 57))
        #expect(radio.heard.all == SharedRadioTests.sent(57...57).map(ToRadioMessage.packet))
        try await running.stop()
    }

    @Test func `what finds no room among the packets that wait for the radio is shown as failed`() async throws {
        let (bench, radio) = (try ImportBench(), try Radio(isAskedAll: true))
        defer { radio.radio.stop() }
        let (running, client) = try await clientWithoutRadio(radio, bench)
        for id in 1...257 as ClosedRange<UInt32> { client.send(frame: SharedRadioTests.packet(id)) }
        #expect(await client.next() == FromRadioMessage.queueStatus(result: 5, packet: 257, free: 0))
        #expect(try await client.next() == Self.unsent(bench).last.map { Array($0.payload) })
        #expect(try await Self.states(bench).filter { $0.value == .failed }.map(\.key) == [257])
        try await running.stop()
    }

    @Test func `old packets can be taken out of the queue, and put back, at any moment of its work`() async throws {
        let outbox = RadioOutbox()
        let running = Task { try await outbox.run(silence_s: { 0 }) { _ in } }
        let taking = Task {
            while !Task.isCancelled {
                outbox.putBack(outbox.takeOld(seconds: 0))
                await Task.yield()
            }
        }
        for number in 0..<20_000 as Range<UInt64> {
            while !outbox.put(RadioOutbox.Item(message: [1], event: number)) { await Task.yield() }
        }
        while !outbox.events.isEmpty { await Task.yield() }
        taking.cancel()
        running.cancel()
        await taking.value
        try await running.value
    }

    @Test func `a packet stays in the queue while the radio says nothing at all`() async throws {
        let (outbox, heard) = (RadioOutbox(answerSeconds: 0.05), SharedRadioTests.Away())
        let looks = Mutex(0)
        _ = outbox.put(RadioOutbox.Item(message: [1], packet: 1, event: 7))
        let running = Task {
            try await outbox.run(
                silence_s: {
                    looks.withLock { $0 += 1 }
                    return heard.isSet ? 0 : 1_000
                }
            ) { _ in }
        }
        try await eventually { looks.withLock { $0 } >= 8 }
        #expect(outbox.events == [7])
        heard.set(true)
        try await eventually { outbox.events.isEmpty }
        running.cancel()
        try await running.value
    }

    private static func toRadio(_ field: UInt32) -> [UInt8] {
        var writer = WireWriter()
        writer.message(field) { $0.string(1, "msh/x") }
        return writer.bytes
    }

    @Test func `messages for a broker go both ways; files only with share-admin; each refusal has its line`() async throws {
        let (bench, radio, lines) = (try ImportBench(), try Radio(isAskedAll: true), Lines())
        defer { radio.radio.stop() }
        let (running, port) = try sharing.share(radio, bench, lines: { lines.add($0) })
        let client = try await StreamClient.connected(to: port)
        await client.greet(1)
        client.send([0x94, 0xc3, 0x02, 0x58] + [UInt8](repeating: 7, count: 1_200))
        try await eventually { lines.contains("not a frame") }
        client.send(frame: Self.toRadio(5))
        client.send(frame: Self.toRadio(6))
        try await eventually { radio.heard.all == [Self.toRadio(6)] }
        #expect(lines.contains("a file transfer of the client 127.0.0.1 was refused: share-admin does not name its network"))
        var writer = WireWriter()
        writer.message(14) { $0.string(1, "msh/y") }
        radio.send(writer.bytes)
        #expect(await client.next() == writer.bytes)
        client.send(frame: SharedRadioTests.packet(5, port: 6))
        try await eventually { lines.contains("a request of the client 127.0.0.1 for settings was refused") }
        var hidden = WireWriter()
        hidden.message(1) { packet in
            packet.bytes(5, [1, 2, 3])
            packet.fixed32(6, 6)
        }
        client.send(frame: hidden.bytes)
        try await eventually { lines.contains("a packet of the client 127.0.0.1 was refused: its content cannot be read") }
        try await running.stop()
        let (second, there) = try sharing.share(radio, bench) { $0.admins = NetworkRange.loopback }
        let admin = try await StreamClient.connected(to: there)
        await admin.greet(2)
        admin.send(frame: Self.toRadio(5))
        try await eventually { radio.heard.all.last == Self.toRadio(5) }
        try await second.stop()
    }

    @Test func `a packet without a number gets one, so that the next one does not wait`() async throws {
        let (bench, radio) = (try ImportBench(), try Radio())
        defer { radio.radio.stop() }
        let (running, port) = try sharing.share(radio, bench)
        let client = try await StreamClient.connected(to: port)
        await client.greet(1)
        let begun = ContinuousClock.now
        client.send(frame: SharedRadioTests.packet(0))
        client.send(frame: SharedRadioTests.packet(9))
        #expect(await client.next()?.starts(with: FakeRadio.queueStatus().prefix(1)) == true)
        #expect(await client.next() == FakeRadio.queueStatus(packet: 9))
        #expect(ContinuousClock.now - begun < .seconds(4))
        guard case .packet(let packet) = ClientMessage(SharedRadioTests.packet(0), from: 1) else {
            Issue.record("no packet")
            return
        }
        #expect(packet.id != 0)
        try await running.stop()
    }

    @Test func `refusals of one client or kind do not hide those of another, and are reported in bounds`() {
        var budget = RefusalBudget()
        let begun = ContinuousClock.now
        #expect(budget.take(.bytes, of: "a", at: begun) == 0 && budget.take(.bytes, of: "a", at: begun) == nil)
        #expect(budget.take(.bytes, of: "b", at: begun) == 0 && budget.take(.settings, of: "a", at: begun) == 0)
        #expect((0..<100).count { _ in budget.take(.settings, of: "a", at: begun) != nil } == 9)
        #expect(budget.take(.settings, of: "a", at: begun + .seconds(61)) == 91)
        for client in 0..<1_000 { #expect(budget.take(.bytes, of: "\(client)", at: begun) == 0) }
    }
}
