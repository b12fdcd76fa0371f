import Foundation
import TestKit
import Testing

@testable import MeshIngest

/// `run` when the way in which a radio is shared changes: the radio, and each client that may still connect, stay connected.
@Suite(.timeLimit(.minutes(3)))
struct SharingChanges {
    private final class Run {
        let folder: TemporaryFolder
        let config: String
        private let radio: UInt16
        private var process: Process?

        init(radio: UInt16, _ sharing: String) throws {
            folder = try TemporaryFolder()
            config = folder.file("mesh.yaml").path
            self.radio = radio
            try write(sharing)
            process = try Process.start(
                BuiltProgram.url(), ["run", config],
                environment: ProcessInfo.commandEnvironment(ledger: folder.path + "/mesh.ledger", home: folder.path))
        }

        deinit { process?.kill() }

        private func write(_ sharing: String) throws {
            try Data("sources:\n  - tcp: 127.0.0.1:\(radio)\n\(sharing)".utf8).write(to: URL(fileURLWithPath: config))
        }

        func reload(_ sharing: String) throws {
            try write(sharing)
            if let process { kill(process.processIdentifier, SIGHUP) }
        }

        func stop() {
            process?.terminate()
            process?.waitUntilExit()
        }
    }

    /// Sends requests for settings until they have the answer that is waited for.
    private static func answer(_ client: StreamClient, _ ids: Range<UInt32>, until isWanted: ([UInt8]) -> Bool) async throws {
        for id in ids {
            client.send(frame: SharedRadioTests.packet(id, port: 6))
            guard let answer = await client.next() else { break }
            if isWanted(answer) { return }
            try await Task.sleep(for: .milliseconds(50))  // before it asks again
        }
        Issue.record("the answer did not come")
    }

    @Test func `a network may change settings from SIGHUP on, and no longer; another port takes new clients`() async throws {
        let radio = try SharedRadioTests.Radio()
        defer { radio.radio.stop() }
        let (port, other) = (try TestBroker.freePort(), try TestBroker.freePort())
        let run = try Run(radio: radio.radio.port, "    share: \(port)\n")
        let client = try await StreamClient.connected(to: port)
        #expect(await client.greet(1).last == FakeRadio.complete(1))
        func refusal(_ id: UInt32) -> [UInt8] { FromRadioMessage.queueStatus(result: 33, packet: id) }
        client.send(frame: SharedRadioTests.packet(1, port: 6))
        #expect(await client.next() == refusal(1))
        try run.reload("    share: \(port)\n    share-admin: [127.0.0.0/8]\n")
        try await Self.answer(client, 2..<400) { $0.count == FakeRadio.queueStatus(packet: 2).count }
        try run.reload("    share: \(port)\n")
        try await Self.answer(client, 400..<800) { $0.count == refusal(400).count }
        radio.say(1_000..<1_010)
        #expect(await client.next(10) == (1_000..<1_010).map { FakeRadio.text($0) })
        try run.reload("    share: \(other)\n")
        let next = try await StreamClient.connected(to: other)
        #expect(await next.greet(2).last == FakeRadio.complete(2))
        // It continues where the first client stopped, whose port is gone.
        #expect(await client.next() == nil)
        radio.say(1_010..<1_020)
        #expect(await next.next(10) == (1_010..<1_020).map { FakeRadio.text($0) })
        // Its network may no longer connect, and then nobody.
        try run.reload("    share: \(other)\n    share-allow: [10.0.0.0/8]\n")
        #expect(await next.next() == nil)
        try run.reload("")
        try run.reload("    share: \(port)\n")
        let last = try await StreamClient.connected(to: port)
        #expect(await last.greet(3).last == FakeRadio.complete(3))
        #expect(radio.radio.clients.all == 1)
        run.stop()
    }

    @Test func `a client that has received a packet and not yet acknowledged it when its port goes does not get it again`()
        async throws
    {
        let (bench, radio) = (try ImportBench(), try SharedRadioTests.Radio())
        defer { radio.radio.stop() }
        let (running, first) = try SharedRadioTests().share(radio, bench)
        var client = try await StreamClient.connected(to: first)
        #expect(await client.greet(1).last == FakeRadio.complete(1))
        for id in 0..<20 as Range<UInt32> {
            client.acknowledgeLate()
            radio.say(id..<id + 1)
            #expect(await client.next() == FakeRadio.text(id))
            let port = try TestBroker.freePort()
            running.source.share(ShareOptions(port: port))
            client = try await StreamClient.connected(to: port)
            #expect(await client.greet(id + 2).last == FakeRadio.complete(id + 2))
        }
        try await running.stop()
    }

    @Test func `all addresses of this computer include the radio's, if the radio is at one of them`() throws {
        let everywhere = try ShareOptions("0.0.0.0:4403")
        let own = ShareOptions.addressesOfThisComputer
        #expect(own.contains("127.0.0.1") && own.allSatisfy { everywhere.isPlace(of: .tcp(host: $0, port: 4403)) })
        #expect(!everywhere.isPlace(of: .tcp(host: own[0], port: 4404)))
        #expect(!everywhere.isPlace(of: .tcp(host: "192.0.2.1", port: 4403)))
    }
}
