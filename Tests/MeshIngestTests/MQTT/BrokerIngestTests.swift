import EventLog
import Foundation
import MeshLedger
import Meshtastic
import ProtobufWire
import Synchronization
import TestKit
import Testing

@testable import MeshIngest

@Suite(.enabled(if: TestBroker.isInstalled, "needs mosquitto"), .serialized)
struct BrokerIngestTests {
    private static let topic = "msh/TEST/2/e/LongFast/!10000000"

    @Test(arguments: MQTTOptions.QualityOfService.allCases)
    func `all that is published is stored, byte for byte and in order`(_ quality: MQTTOptions.QualityOfService) async throws {
        let bench = try ImportBench()
        let broker = try TestBroker(in: bench.folder)
        let running = try RunningIngest(broker.address(), bench: bench) { $0.qualityOfService = quality }
        try await running.waitForSubscription()
        let publisher = try TestPublisher(port: broker.port)
        let payloads = (0..<5_000).map { MadeEnvelope.bytes(from: 5, id: UInt32($0)) }
        for payload in payloads { try publisher.publish(payload, to: Self.topic) }
        try await running.waitForEvents(payloads.count)
        #expect(await running.stop() == nil)
        let events = try bench.events()
        #expect(events.map(\.payload) == payloads)
        #expect(events.allSatisfy { $0.header.reception == .live && $0.header.encoding == PayloadEncoding(.serviceEnvelope) })
        let source = try bench.log.name(of: try #require(events.first).header.source)
        #expect(source == "mqtt://127.0.0.1:\(broker.port)/" + Self.topic)
        #expect(running.ingest.statistics.storedCount == payloads.count)
        #expect(bench.flushes.value >= 1)
    }

    @Test func `protobuf, JSON, map and old topics are distinguished, and others are counted`() async throws {
        let bench = try ImportBench()
        let broker = try TestBroker(in: bench.folder)
        let running = try RunningIngest(broker.address("mesh/#"), bench: bench)
        try await running.waitForSubscription()
        let publisher = try TestPublisher(port: broker.port)
        let topics = [
            "mesh/a/b/2/e/Long Fast/!00000001", "mesh/2/c/LongFast/!00000001", "mesh/2/map/", "mesh/2/json/mqtt/!00000001",
            "mesh/2/stat/!00000001", "mesh/weather", "other/2/e/LongFast/!00000001",
        ]
        for topic in topics { try publisher.publish(Array("{\"t\":1}".utf8), to: topic) }
        try await running.waitForEvents(4)
        try await running.wait("all messages") { running.ingest.statistics.receivedCount == 6 }
        #expect(await running.stop() == nil)
        #expect(
            try bench.events().map(\.header.encoding)
                == [.serviceEnvelope, .serviceEnvelope, .serviceEnvelope, .mqttJSON].map { PayloadEncoding($0) })
        #expect(running.ingest.statistics.statusCount == 1)
        #expect(running.ingest.statistics.foreignCount == 1)
    }

    @Test func `thousands of topics wait for no commit of their own, so that a signal is heard at once`() async throws {
        let bench = try ImportBench()
        let broker = try TestBroker(in: bench.folder)
        let sink = CountingSink(log: bench.log)
        let ingest = MQTTIngest(MQTTOptions(try MQTTAddress(broker.address())), into: IngestTarget(log: sink))
        let task = Task { try await ingest.run() }
        try await eventually { ingest.statistics.connectionCount > 0 }
        let publisher = try TestPublisher(port: broker.port)
        let count = 3_000
        for number in 0..<count {
            try publisher.publish(MadeEnvelope.bytes(from: 5, id: UInt32(number)), to: "msh/TEST/2/e/LongFast/!\(number)")
        }
        try await eventually { bench.log.head.rawValue >= UInt64(count) }
        task.cancel()
        try await task.value
        #expect(sink.waits.withLock { $0 } == 0)
        #expect(try bench.log.sources().count == count)
        let names = try Set(bench.events().map { try bench.log.name(of: $0.header.source) })
        #expect(names.count == count)
    }

    @Test func `retained, repeated, empty and huge messages do no harm`() async throws {
        let bench = try ImportBench()
        let broker = try TestBroker(in: bench.folder)
        let publisher = try TestPublisher(port: broker.port)
        try publisher.publish([1], to: Self.topic, retain: true)
        try publisher.drain()
        let running = try RunningIngest(broker.address(), bench: bench)
        try await running.waitForEvents(1)
        try publisher.publish([2], to: Self.topic)
        try publisher.publish([2], to: Self.topic)
        try publisher.publish([UInt8](repeating: 7, count: 3_000_000), to: Self.topic)
        try publisher.publish([], to: Self.topic)
        try await running.waitForEvents(5)
        #expect(await running.stop() == nil)
        let events = try bench.events()
        #expect(events.map(\.payload).enumerated().filter { $0.offset != 3 }.map(\.element) == [[1], [2], [2], []])
        let bytes = events[3].payload
        let gap = Gap(payload: bytes.rawSpan)
        #expect(events[3].header.encoding == .gap && gap?.count == 1 && gap?.reason.contains("3000000 bytes") == true)
        #expect(events[3].header.source == events[0].header.source)
        #expect(running.ingest.statistics.oversizedCount == 1)
        #expect(running.notices.all.count { $0 == .oversized(count: 1) } == 1)
    }

    @Test func `what is published while it is stopping is stored or not, but nothing stored is lost`() async throws {
        let bench = try ImportBench()
        let broker = try TestBroker(in: bench.folder)
        let running = try RunningIngest(broker.address(), bench: bench)
        try await running.waitForSubscription()
        let publisher = try TestPublisher(port: broker.port)
        for number in 0..<20_000 {
            try publisher.publish(MadeEnvelope.bytes(from: 5, id: UInt32(number)), to: Self.topic, qos: 0)
        }
        try await running.waitForEvents(1)
        #expect(await running.stop() == nil)
        #expect(UInt64(running.ingest.statistics.storedCount) == bench.log.head.rawValue)
        #expect(running.notices.all.last == .disconnected)
    }

    @Test func `M7: a broker that is killed and started again is found again, and meanwhile the views are flushed`() async throws
    {
        let bench = try ImportBench()
        let broker = try TestBroker(in: bench.folder)
        let running = try RunningIngest(broker.address(), bench: bench)
        for round in 1...3 {
            try await running.waitForSubscription(round)
            let publisher = try TestPublisher(port: broker.port)
            for number in 0..<100 {
                try publisher.publish(MadeEnvelope.bytes(from: UInt32(round), id: UInt32(number)), to: Self.topic)
            }
            try await running.waitForEvents(round * 100)
            let flushes = bench.flushes.value
            broker.stop()
            try await running.wait("a flush") { bench.flushes.value > flushes }
            try broker.start()
        }
        try await running.waitForSubscription(4)
        #expect(await running.stop() == nil)
        #expect(bench.log.head.rawValue == 300)
        #expect(running.ingest.statistics.connectionCount == 4)
    }

    @Test func `a client with a session misses nothing while it is away`() async throws {
        let bench = try ImportBench()
        let broker = try TestBroker(in: bench.folder)
        let publisher = try TestPublisher(port: broker.port)
        for round in 0..<3 {
            let running = try RunningIngest(broker.address(), bench: bench) {
                $0.qualityOfService = .atLeastOnce
                $0.clientID = "ledger"
                $0.keepsSession = true
            }
            try await running.waitForSubscription()
            try await running.waitForEvents(round * 50)
            #expect(await running.stop() == nil)
            for number in 0..<50 {
                try publisher.publish(MadeEnvelope.bytes(from: UInt32(round), id: UInt32(number)), to: Self.topic)
            }
            try publisher.drain()
        }
        #expect(bench.log.head.rawValue == 100)
    }

    @Test(
        .enabled(if: OraclePython.path != nil, Comment(rawValue: OraclePython.need)),
        arguments: [false, true])
    func `traffic that another program publishes is stored byte for byte`(isRecorded: Bool) async throws {
        if isRecorded, SharedFolder.isMissing(for: "recorded traffic that another program publishes") { return }
        let bench = try ImportBench()
        let broker = try TestBroker(in: bench.folder)
        let running = try RunningIngest(broker.address(), bench: bench)
        try await running.waitForSubscription()
        let file =
            isRecorded
            ? SharedFolder.file("captures/mqtt-envelopes.base64")
            : try GeneratedCapture("envelopes", seed: 21, ["packets=150"], in: bench.folder).url
        let lines = try String(contentsOf: file, encoding: .utf8).split(whereSeparator: \.isNewline)
        async let published = OraclePython.run("publish.py", [file.path, "127.0.0.1", "\(broker.port)"])
        try await running.waitForEvents(lines.count)
        _ = try await published
        #expect(await running.stop() == nil)
        #expect(try bench.events().map(\.payload) == lines.map { Data(base64Encoded: String($0)).map { [UInt8]($0) } ?? [] })
    }
}

/// Counts how often a new source waits for a commit.
private final class CountingSink: EventSink {
    let log: EventLog
    let waits = Mutex(0)

    init(log: EventLog) { self.log = log }

    func source(named name: String) async throws(EventLogError) -> SourceID {
        waits.withLock { $0 += 1 }
        return try await log.source(named: name)
    }

    func reserveSource(named name: String) async throws(EventLogError) -> SourceID { try await log.reserveSource(named: name) }

    func storedCursor(_ key: String) async throws(EventLogError) -> [UInt8]? { try log.cursor(key) }

    func append(
        _ events: [NewEvent], cursor: SourceCursor?, token: AppendToken?
    ) async throws(EventLogError) -> ClosedRange<EventSequence>? {
        try await log.append(events, cursor: cursor, token: token)
    }
}
