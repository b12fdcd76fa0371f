import EventLog
import Foundation
import TestKit
import Testing

@testable import MeshIngest

@Suite(.enabled(if: TestBroker.isInstalled && TestAuthority.isInstalled, "needs mosquitto and openssl"), .serialized)
struct BrokerTrustTests {
    private static func secured(_ bench: ImportBench, host: String = "localhost", more: [String] = []) throws -> TestBroker {
        let authority = try TestAuthority(in: bench.folder)
        try authority.issue("broker", host: host)
        return try TestBroker(
            ["allow_anonymous true", "certfile \(bench.path("broker.crt"))", "keyfile \(bench.path("broker.key"))"] + more,
            in: bench.folder)
    }

    private static func running(_ broker: TestBroker, _ bench: ImportBench, _ change: (inout MQTTOptions) -> Void) throws
        -> RunningIngest
    {
        try RunningIngest("mqtts://localhost:\(broker.port)", bench: bench, change)
    }

    @Test func `a broker whose authority is named is trusted`() async throws {
        let bench = try ImportBench()
        let broker = try Self.secured(bench)
        let running = try Self.running(broker, bench) { $0.certificateAuthorityFile = bench.path("authority.crt") }
        try await running.waitForSubscription()
        #expect(await running.stop() == nil)
    }

    @Test func `a broker whose authority is not known is refused`() async throws {
        let bench = try ImportBench()
        let broker = try Self.secured(bench)
        let failure = await (try Self.running(broker, bench) { _ in }).end()
        #expect(failure?.code == .notTrusted)
        #expect(failure?.reason.contains("not trusted") == true)
        #expect(failure?.description.contains("\n") == false)
    }

    @Test func `a certificate for another host is refused`() async throws {
        let bench = try ImportBench()
        let broker = try Self.secured(bench, host: "elsewhere.example")
        let failure = await (try Self.running(broker, bench) { $0.certificateAuthorityFile = bench.path("authority.crt") }).end()
        #expect(failure?.code == .notTrusted)
    }

    @Test func `whoever asks for it takes any certificate`() async throws {
        let bench = try ImportBench()
        let broker = try Self.secured(bench, host: "elsewhere.example")
        let running = try Self.running(broker, bench) { $0.isInsecure = true }
        try await running.waitForSubscription()
        #expect(await running.stop() == nil)
    }

    @Test func `messages come over TLS as over TCP`() async throws {
        let bench = try ImportBench()
        let plainPort = try TestBroker.freePort()
        let broker = try Self.secured(bench, more: ["listener \(plainPort) 127.0.0.1"])
        let running = try Self.running(broker, bench) { $0.certificateAuthorityFile = bench.path("authority.crt") }
        try await running.waitForSubscription()
        let publisher = try TestPublisher(port: plainPort)
        let payloads = (0..<3_000).map { MadeEnvelope.bytes(from: 5, id: UInt32($0)) }
        for payload in payloads { try publisher.publish(payload, to: "msh/2/e/LongFast/!00000005") }
        try await running.waitForEvents(payloads.count)
        #expect(await running.stop() == nil)
        #expect(try bench.events().map(\.payload) == payloads)
    }

    @Test func `a broker that wants a client certificate gets it or refuses`() async throws {
        let bench = try ImportBench()
        let broker = try Self.secured(bench, more: ["cafile \(bench.path("authority.crt"))", "require_certificate true"])
        let authority = bench.path("authority.crt")
        let failure = await (try Self.running(broker, bench) { $0.certificateAuthorityFile = authority }).end()
        #expect(failure?.code == .notTrusted)
        try TestAuthority.issue("client", host: "client", in: bench.folder)
        let running = try Self.running(broker, bench) {
            $0.certificateAuthorityFile = authority
            $0.certificateFile = bench.path("client.crt")
            $0.keyFile = bench.path("client.key")
        }
        try await running.waitForSubscription()
        #expect(await running.stop() == nil)
    }

    @Test func `a file of an authority that is not there is reported`() async throws {
        let bench = try ImportBench()
        let failure = await
            (try RunningIngest("mqtts://localhost:1", bench: bench) { $0.certificateAuthorityFile = "/nowhere/ca.crt" }).end()
        #expect(failure?.code == .notFound)
        #expect(failure?.description.contains("/nowhere/ca.crt") == true)
    }
}
