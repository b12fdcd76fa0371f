import EventLog
import Foundation
import MeshLedger
import Meshtastic
import ProtobufWire
import Synchronization
import TestKit
import Testing

@testable import MeshIngest

/// What clients of a shared radio send, until the radio has it.
@Suite(.timeLimit(.minutes(3)))
struct SharedRadioQueue {
    private typealias Radio = SharedRadioTests.Radio
    private let sharing = SharedRadioTests()

    private final class Lines: Sendable {
        private let lines = Mutex<[String]>([])
        func add(_ line: String) { lines.withLock { $0.append(line) } }
        func contains(_ text: String) -> Bool { lines.withLock { $0.contains { $0.contains(text) } } }
    }

    private static func stored(_ bench: ImportBench) throws -> Int {
        try bench.events().count { $0.header.encoding == PayloadEncoding(.meshPacket) }
    }

    private static func failures(_ bench: ImportBench) throws -> Int {
        let sources = try bench.log.sources().filter { $0.name.contains("/client ") }.map(\.id)
        return try bench.events().count {
            sources.contains($0.header.source) && $0.header.encoding == PayloadEncoding(.fromRadio)
        }
    }

    private static func broker(_ number: Int) -> [UInt8] {
        var writer = WireWriter()
        writer.message(6) { $0.string(1, "msh/\(number)") }
        return writer.bytes
    }

    /// Two clients that have the configuration of a radio which is away since.
    private func withoutRadio(
        _ radio: Radio, _ bench: ImportBench, _ change: (inout ShareOptions) -> Void = { _ in }, _ lines: Lines = Lines()
    ) async throws -> (running: RunningSource<SharedRadio>, one: StreamClient, two: StreamClient) {
        let (running, port) = try sharing.share(radio, bench, change, lines: { lines.add($0) })
        let (one, two) = (try await StreamClient.connected(to: port), try await StreamClient.connected(to: port))
        await one.greet(1)
        await two.greet(2)
        radio.leave()
        try await eventually { running.source.status.state == .waiting }
        return (running, one, two)
    }

    @Test func `a packet that fits no frame is refused with an answer and a line, and none waits for it`() async throws {
        let (bench, radio, lines) = (try ImportBench(), try Radio(), Lines())
        defer { radio.radio.stop() }
        let (running, port) = try sharing.share(radio, bench, lines: { lines.add($0) })
        let client = try await StreamClient.connected(to: port)
        await client.greet(1)
        var writer = WireWriter()
        writer.message(1) { packet in
            packet.fixed32(2, .max)
            packet.message(4) {
                $0.uint32(1, 1)
                $0.bytes(2, [UInt8](repeating: 0x78, count: 490))
            }
            packet.fixed32(6, 5)
        }
        #expect(writer.bytes.count > StreamFramer.lengthLimit - 5 && StreamFrame.around(writer.bytes) != nil)
        client.send(frame: writer.bytes)
        client.send(frame: SharedRadioTests.packet(6))
        #expect(await client.next() == FromRadioMessage.queueStatus(result: 7, packet: 5))
        #expect(await client.next() == FakeRadio.queueStatus(packet: 6))
        #expect(radio.heard.all == SharedRadioTests.sent(6...6).map(ToRadioMessage.packet))
        #expect(lines.contains("a packet of the client 127.0.0.1 was refused: it does not fit the radio's frame"))
        #expect(try Self.stored(bench) == 1)
        try await running.stop()
    }

    @Test func `a radio that had no room before its connection broke, or before it started again, gets packets at once`()
        async throws
    {
        let (bench, radio) = (try ImportBench(), try Radio())
        defer { radio.radio.stop() }
        let (running, port) = try sharing.share(radio, bench)
        let client = try await StreamClient.connected(to: port)
        await client.greet(1)
        func fill(_ id: UInt32) async {
            radio.send(FakeRadio.queueStatus(free: 0))
            radio.say(id..<id + 1)
            #expect(await client.next() == FakeRadio.text(id))
        }
        await fill(1)
        radio.hangUp()
        try await eventually { radio.radio.clients.all == 2 && running.source.status.state == .live }
        client.send(frame: SharedRadioTests.packet(55))
        #expect(await client.next() == FakeRadio.queueStatus(packet: 55))
        await fill(2)
        var rebooted = WireWriter()
        rebooted.bool(8, true)
        radio.send(rebooted.bytes)
        client.send(frame: SharedRadioTests.packet(56))
        #expect(await client.next() == FakeRadio.queueStatus(packet: 56))
        try await running.stop()
    }

    @Test func `what waited for the radio when the process was killed is sent after the start, and nothing twice`() async throws {
        let (bench, radio) = (try ImportBench(), try Radio(isAskedAll: true))
        defer { radio.radio.stop() }
        let (first, one, two) = try await withoutRadio(radio, bench)
        let key = first.source.unsentKey
        let saved = try bench.log.cursor(key) ?? []
        one.send(frame: SharedRadioTests.packet(55))
        try await eventually { try Self.stored(bench) == 1 }
        two.send(frame: SharedRadioTests.packet(56))
        try await eventually { try Self.stored(bench) == 2 }
        try await first.stop()
        radio.comeBack()
        let own = SharedRadioTests.sent(55...56).map(ToRadioMessage.packet)
        for _ in 0..<2 {
            // As after a kill: what was stored since is in the log alone.
            _ = try await bench.log.append([], cursor: SourceCursor(key: key, value: saved))
            let (next, port) = try sharing.share(radio, bench)
            let client = try await StreamClient.connected(to: port)
            await client.greet(3)
            try await eventually { radio.heard.all.count >= 2 && next.source.outbox.events.isEmpty }
            #expect(radio.heard.all == own)
            try await next.stop()
        }
        #expect(try Self.failures(bench) == 0)
    }

    @Test func `what waited for the radio when the process was killed and is too old now is shown as failed, once`() async throws
    {
        let (bench, radio, lines) = (try ImportBench(), try Radio(isAskedAll: true), Lines())
        defer { radio.radio.stop() }
        let (first, one, _) = try await withoutRadio(radio, bench)
        let key = first.source.unsentKey
        let saved = try bench.log.cursor(key) ?? []
        one.send(frame: SharedRadioTests.packet(55))
        try await eventually { try Self.stored(bench) == 1 }
        try await first.stop()
        radio.comeBack()
        for number in 3...4 as ClosedRange<UInt32> {
            _ = try await bench.log.append([], cursor: SourceCursor(key: key, value: saved))
            let (next, port) = try sharing.share(radio, bench, { $0.oldestUnsentSeconds = 0 }, lines: { lines.add($0) })
            let client = try await StreamClient.connected(to: port)
            await client.greet(number)
            #expect(try Self.failures(bench) == 1)
            try await next.stop()
        }
        #expect(
            radio.heard.all.isEmpty && lines.contains("1 packet (1 of client 127.0.0.1) from before the start will not be sent"))
    }

    @Test func `messages for a broker take no room of packets, and old ones are given up with a line`() async throws {
        let (bench, radio, lines) = (try ImportBench(), try Radio(), Lines())
        defer { radio.radio.stop() }
        let (running, one, two) = try await withoutRadio(radio, bench, { $0.oldestUnsentSeconds = 5 }, lines)
        for number in 0..<300 { one.send(frame: Self.broker(number)) }
        try await eventually { lines.contains("a message of the client 127.0.0.1 was refused") }
        for id in 55...56 as ClosedRange<UInt32> { two.send(frame: SharedRadioTests.packet(id)) }
        try await eventually { try Self.stored(bench) == 2 && running.source.outbox.events.count == 2 }
        try await eventually { lines.contains("messages for the radio (") && lines.contains("2 packets (2 of client") }
        radio.comeBack()
        try await eventually { running.source.status.state == .live }
        two.send(frame: SharedRadioTests.packet(57))
        try await eventually { radio.heard.all == SharedRadioTests.sent(57...57).map(ToRadioMessage.packet) }
        try await running.stop()
    }

    @Test func `the radio gets from each client in turn, and each client's packets in order`() async throws {
        let (bench, radio) = (try ImportBench(), try Radio())
        defer { radio.radio.stop() }
        let (running, one, two) = try await withoutRadio(radio, bench)
        for id in 1...100 as ClosedRange<UInt32> { one.send(frame: SharedRadioTests.packet(id)) }
        try await eventually { try Self.stored(bench) == 100 }
        for id in 201...202 as ClosedRange<UInt32> { two.send(frame: SharedRadioTests.packet(id)) }
        try await eventually { running.source.outbox.events.count == 102 }
        radio.comeBack()
        try await eventually { running.source.outbox.events.isEmpty }
        let (talkative, quiet) = (SharedRadioTests.sent(1...100), SharedRadioTests.sent(201...202))
        let order = radio.heard.all
        #expect(order.filter { talkative.map(ToRadioMessage.packet).contains($0) } == talkative.map(ToRadioMessage.packet))
        #expect(order.prefix(4).filter { quiet.map(ToRadioMessage.packet).contains($0) } == quiet.map(ToRadioMessage.packet))
        try await running.stop()
    }
}
