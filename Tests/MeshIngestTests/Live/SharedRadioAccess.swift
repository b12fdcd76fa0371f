import Foundation
import Meshtastic
import TestKit
import Testing

@testable import MeshIngest

/// Who may be a client of a shared radio, and how many.
extension SharedRadioTests {
    @Test func `one address cannot take all places, and a connection that asks for nothing ends`() async throws {
        let (bench, radio) = (try ImportBench(), try Radio())
        defer { radio.radio.stop() }
        let (running, port) = try share(radio, bench) { $0.silenceSeconds = 1 }
        let first = try await StreamClient.connected(to: port)
        await first.greet(1)
        let silent = try await Self.clients(40, port)
        try await eventually { running.source.clientCount == SharedRadio.mostOfAddress }
        try await eventually { running.source.clientCount == 1 }
        radio.say(0..<3)
        #expect(await first.next(3).count == 3)
        let next = try await StreamClient.connected(to: port)
        #expect(await next.greet(2).last == FakeRadio.complete(2))
        try await running.stop()
        withExtendedLifetime(silent) {}
    }

    @Test func `connections that ask for nothing keep no client away`() async throws {
        let (bench, radio) = (try ImportBench(), try Radio())
        defer { radio.radio.stop() }
        let (running, port) = try share(radio, bench)
        let silent = try await Self.clients(SharedRadio.mostOfAddress, port)
        try await eventually { running.source.clientCount == SharedRadio.mostOfAddress }
        var isServed = false
        while !isServed {
            let next = try await StreamClient.connected(to: port)
            isServed = await next.greet(2).last == FakeRadio.complete(2)
        }
        try await running.stop()
        withExtendedLifetime(silent) {}
    }

    @Test func `only addresses of the allowed networks are let in`() async throws {
        let (bench, radio, lines) = (try ImportBench(), try Radio(), Lines())
        defer { radio.radio.stop() }
        let (running, port) = try share(radio, bench) {
            $0.allowed = []
        } lines: {
            lines.add($0)
        }
        let client = try await StreamClient.connected(to: port)
        client.send(frame: ToRadioMessage.wantConfig(1))
        #expect(await client.next() == nil)
        try await eventually { lines.contains("a client from 127.0.0.1 was refused: share-allow does not name its network") }
        try await running.stop()
        let network = try NetworkRange("192.168.4.0/22")
        #expect(network.contains("192.168.7.255") && network.contains("::ffff:192.168.4.1"))
        #expect(!network.contains("192.168.8.0") && !network.contains("::1") && !network.contains("x"))
        #expect(try NetworkRange("fe80::/10").contains("febf::1") && NetworkRange("10.0.0.1").contains("10.0.0.1"))
        for text in ["", "10.0.0.0/33", "host", "10.0.0.0/x", "1/2/3"] {
            #expect(throws: IngestError.self) { try NetworkRange(text) }
        }
    }
}
