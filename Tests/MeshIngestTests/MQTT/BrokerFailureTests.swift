import EventLog
import Foundation
import Meshtastic
import Synchronization
import TestKit
import Testing

@testable import MeshIngest

@Suite(.enabled(if: TestBroker.isInstalled, "needs mosquitto"), .serialized)
struct BrokerFailureTests {
    private static func failure(_ address: String, _ bench: ImportBench, _ change: (inout MQTTOptions) -> Void = { _ in })
        async throws -> IngestError?
    {
        await (try RunningIngest(address, bench: bench, change)).end()
    }

    @Test func `a wrong password ends it with one clear line that does not repeat it`() async throws {
        let bench = try ImportBench()
        let broker = try TestBroker(user: "me", password: "right", in: bench.folder)
        let failure = try await Self.failure(broker.address(user: "me:wrong"), bench)
        #expect(failure?.code == .notAuthorized)
        #expect(failure?.description.contains("wrong password") == true)
        #expect(failure?.description.contains(":wrong@") == false)
        #expect(failure?.description.contains("\n") == false)
        let running = try RunningIngest(broker.address(user: "me:right"), bench: bench)
        try await running.waitForSubscription()
        #expect(await running.stop() == nil)
        #expect(try bench.log.sources().allSatisfy { !$0.name.contains("right") })
    }

    @Test func `an unknown host ends it`() async throws {
        let bench = try ImportBench()
        let failure = try await Self.failure("mqtt://no-such-host.invalid", bench)
        #expect(failure?.code == .notFound)
        #expect(failure?.description.contains("no-such-host.invalid") == true)
    }

    @Test func `a broker that is not there yet is waited for`() async throws {
        let bench = try ImportBench()
        let broker = try TestBroker(in: bench.folder)
        broker.stop()
        let running = try RunningIngest(broker.address(), bench: bench)
        try await running.wait("two attempts") {
            running.notices.all.count { $0 == .connecting(broker: "mqtt://127.0.0.1:\(broker.port)") } > 1
        }
        try broker.start()
        try await running.waitForSubscription()
        #expect(await running.stop() == nil)
    }

    @Test func `two clients with one id that end each other's connections do so ever more rarely`() async throws {
        let bench = try ImportBench()
        let broker = try TestBroker(in: bench.folder)
        let running = try (0..<2).map { _ in
            try RunningIngest(broker.address(), bench: bench) { $0.clientID = "roof" }
        }
        let start = ContinuousClock.now
        try await eventually {
            running.reduce(0) {
                $0 + $1.notices.all.count { $0 == .connecting(broker: "mqtt://127.0.0.1:\(broker.port)") }
            } >= 16
        }
        // Pauses of 0.05, 0.1 and then 0.2 s, or a fifth less; those of 0.05 s take 0.84 s at most.
        #expect(start.duration(to: .now) > .seconds(1.2))
        try await eventually {
            running.contains { $0.losses.contains { $0.contains("another program with the client id roof may have taken it") } }
        }
        for each in running { #expect(await each.stop() == nil) }
    }

    @Test func `a broker that was stopped is not taken for another program with the client id`() async throws {
        let bench = try ImportBench()
        let broker = try TestBroker(in: bench.folder)
        let running = try RunningIngest(broker.address(), bench: bench) { ($0.clientID, $0.firstRetrySeconds) = ("roof", 0.02) }
        for stops in 1...2 {
            try await running.waitForSubscription(stops)
            broker.stop()
            try await running.wait("a failed attempt") { running.losses.count >= 2 * stops }
            try broker.start()
        }
        try await running.waitForSubscription(3)
        #expect(!running.losses.contains { $0.contains("may have taken it") }, "\(running.losses)")
        #expect(await running.stop() == nil)
    }

    @Test func `a subscription that is not permitted ends it`() async throws {
        let bench = try ImportBench()
        let broker = try FakeBroker(answers: [[0x20, 2, 0, 0], [0x90, 3, 0, 1, 0x80]])
        let failure = try await Self.failure("mqtt://127.0.0.1:\(broker.port)/secret", bench)
        #expect(failure?.code == .notPermitted)
        #expect(failure?.description.contains("secret/#") == true)
    }

    @Test(arguments: [(1, IngestError.Code.unreachable), (2, .notAuthorized), (4, .notAuthorized), (5, .notAuthorized)])
    func `each refusal of the broker has its reason`(_ answer: Int, _ code: IngestError.Code) async throws {
        let bench = try ImportBench()
        let broker = try FakeBroker(answers: [[0x20, 2, 0, UInt8(answer)]])
        let failure = try await Self.failure("mqtt://127.0.0.1:\(broker.port)", bench)
        #expect(failure?.code == code)
    }

    @Test func `a message of quality 1 is acknowledged only when it is stored`() async throws {
        let bench = try ImportBench()
        let body = Array("msh/2/e/LongFast/!00000005".utf8)
        let messages = (1...50).flatMap { number -> [UInt8] in
            let payload = MadeEnvelope.bytes(from: 5, id: UInt32(number))
            return [0x32, UInt8(4 + body.count + payload.count), 0, UInt8(body.count)] + body + [0, UInt8(number)] + payload
        }
        let acknowledgements = Mutex<[(number: UInt8, head: UInt64)]>([])
        let broker = try FakeBroker(answers: [[0x20, 2, 0, 0], [0x90, 3, 0, 1, 1] + messages]) { [log = bench.log] bytes in
            for start in stride(from: 0, to: bytes.count - 3, by: 4) where bytes[start] == 0x40 {
                acknowledgements.withLock { $0.append((bytes[start + 3], log.head.rawValue)) }
            }
        }
        let running = try RunningIngest("mqtt://127.0.0.1:\(broker.port)", bench: bench) { $0.qualityOfService = .atLeastOnce }
        try await running.wait("acknowledgements") { acknowledgements.withLock { $0.count } == 50 }
        #expect(await running.stop() == nil)
        #expect(acknowledgements.withLock { $0 }.allSatisfy { UInt64($0.number) <= $0.head })
    }

    @Test func `it stops at once while nobody answers`() async throws {
        let bench = try ImportBench()
        let hasAsked = Mutex(false)
        let broker = try FakeBroker(answers: []) { _ in hasAsked.withLock { $0 = true } }
        let running = try RunningIngest("mqtt://127.0.0.1:\(broker.port)", bench: bench)
        try await running.wait("a request for a connection") { hasAsked.withLock { $0 } }
        let start = ContinuousClock.now
        #expect(await running.stop() == nil)
        #expect(start.duration(to: .now) < .seconds(2))
    }

    @Test(arguments: [[[0x20, 2, 0, 0], [0x90, 3, 0, 1, 0]], [[0x20, 2, 0, 0]]] as [[[UInt8]]])
    func `leaving a broker says goodbye, so that it does not take its client for lost`(_ answers: [[UInt8]])
        async throws
    {
        let bench = try ImportBench()
        let heard = Mutex<[UInt8]>([])
        let broker = try FakeBroker(answers: answers) { bytes in heard.withLock { $0 += bytes } }
        let running = try RunningIngest("mqtt://127.0.0.1:\(broker.port)", bench: bench)
        // The one has granted the subscription, the other only the connection: there the request for it comes after the last answer.
        if answers.count == 2 {
            try await running.waitForSubscription()
        } else {
            try await running.wait("a request for a subscription") { heard.withLock { $0.first } == 0x82 }
        }
        let before = heard.withLock { $0.count }
        #expect(answers.count == 1 || before == 0)
        #expect(await running.stop() == nil)
        try await eventually { heard.withLock { $0.count } >= before + 2 }
        #expect(heard.withLock { Array($0.dropFirst(before)) } == [0xe0, 0])
        #expect(running.notices.all.last == .disconnected)
    }

    @Test func `options that make no sense are refused`() async throws {
        let bench = try ImportBench()
        #expect(try await Self.failure("mqtt://127.0.0.1", bench) { $0.keepsSession = true }?.code == .badRequest)
        #expect(try await Self.failure("mqtt://127.0.0.1", bench) { $0.certificateAuthorityFile = "ca" }?.code == .badRequest)
        #expect(try await Self.failure("mqtt://127.0.0.1", bench) { $0.keepAliveSeconds = 1 }?.code == .badRequest)
        #expect(try await Self.failure("mqtt://127.0.0.1/a#b", bench)?.code == .badRequest)
    }

    @Test(.timeLimit(.minutes(40)))
    func `D9: a ledger that is full is waited for, which is reported once, and nothing that the broker kept is lost`()
        async throws
    {
        let bench = try ImportBench(sizeLimit: 1 << 20)
        let broker = try TestBroker(in: bench.folder)
        let running = try RunningIngest(broker.address(), bench: bench) {
            $0.qualityOfService = .atLeastOnce
            $0.clientID = "ledger"
            $0.keepsSession = true
        }
        try await running.waitForSubscription()
        let publisher = try TestPublisher(port: broker.port)
        // Fewer than a broker keeps of its own accord, and more than the ledger has room for.
        for number in 0..<600 {
            let payload = Array("\(number) ".utf8) + [UInt8](repeating: 7, count: 3_000)
            try publisher.publish(payload, to: "msh/EU_868/2/e/LongFast/!00000005")
        }
        func count(_ isCounted: (MQTTNotice) -> Bool) -> Int { running.notices.all.count(where: isCounted) }
        func fullNotices() -> Int { count { if case .full = $0 { true } else { false } } }
        try await running.wait("a full ledger") { fullNotices() > 0 }
        let before = bench.log.head.rawValue
        try await running.wait("a lag") { running.ingest.status.lagSeconds > 1 }
        #expect(running.ingest.status.state == .waiting)
        #expect(before < 600 && count { $0 == .roomAgain } == 0)
        bench.log.setSizeLimit(1 << 30)
        func numbers() throws -> Set<Int> { Set(try bench.events().compactMap { Self.number($0.payload) }) }
        try await eventually(every: .milliseconds(20)) { try running.notices.isOver || numbers().count >= 600 }
        try await running.wait("space again") { count { $0 == .roomAgain } > 0 }
        #expect(fullNotices() == 1 && count { $0 == .roomAgain } == 1, "\(running.notices.all)")
        #expect(await running.stop() == nil)
    }

    private static func number(_ payload: [UInt8]) -> Int? {
        Int(String(decoding: payload.prefix { $0 != UInt8(ascii: " ") }, as: UTF8.self))
    }

    @Test(.timeLimit(.minutes(20)))
    func `18.7: while the ledger takes nothing, no more of a broker's messages is read than the budget has room for`()
        async throws
    {
        let sink = ClosedSink()
        let (topic, payload) = (Array("msh/2/e/LongFast/!00000005".utf8), [UInt8](repeating: 7, count: 60_000))
        let length = 2 + topic.count + payload.count
        let message: [UInt8] =
            [0x30, UInt8(length & 0x7f | 0x80), UInt8(length >> 7 & 0x7f | 0x80), UInt8(length >> 14), 0, UInt8(topic.count)]
            + topic + payload
        let broker = try FakeBroker(answers: [[0x20, 2, 0, 0], [0x90, 3, 0, 1, 0]], flood: message)
        var options = MQTTOptions(try MQTTAddress("mqtt://127.0.0.1:\(broker.port)"))
        options.queueByteLimit = 8 << 20
        let ingest = MQTTIngest(options, into: IngestTarget(log: sink))
        let task = Task { try? await ingest.run() }
        // It has stopped reading when nothing was taken for two seconds, however busy the machine is, after something was.
        var (taken, calm) = (0, 0)
        while calm < 20, taken < 200 << 20 {
            try await Task.sleep(for: .milliseconds(100))
            let now = broker.floodedCount
            (taken, calm) = (now, now == taken && now > 0 ? calm + 1 : 0)
        }
        // What waits, one turn of 256 messages, and what the system holds of a connection.
        #expect(taken < 8 << 20 + 256 * length + 32 << 20, "\(taken >> 20) MB were read")
        #expect(sink.count.withLock { $0 } == 1, "one batch is under way")
        sink.isOpen.withLock { $0 = true }
        // It goes on when there is room.
        try await eventually { broker.floodedCount > taken + 8 << 20 }
        task.cancel()
        await task.value
    }

    @Test(.timeLimit(.minutes(40)))
    func `stopped while the ledger is full, it says that messages were not stored`() async throws {
        let bench = try ImportBench(sizeLimit: 1 << 20)
        let broker = try TestBroker(in: bench.folder)
        let running = try RunningIngest(broker.address(), bench: bench)
        try await running.waitForSubscription()
        let publisher = try TestPublisher(port: broker.port)
        let payload = [UInt8](repeating: 7, count: 3_000)
        for _ in 0..<600 { try publisher.publish(payload, to: "msh/EU_868/2/e/LongFast/!00000005") }
        try await running.wait("a full ledger") {
            running.notices.all.contains { if case .full = $0 { true } else { false } }
        }
        let failure = await running.stop()
        #expect(
            failure?.code == .storeFailed && failure?.reason.contains("did not accept") == true, "\(String(describing: failure))")
    }
}

/// A log that takes nothing until it is opened.
private final class ClosedSink: EventSink {
    let isOpen = Mutex(false)
    /// How many appends have begun.
    let count = Mutex(0)

    func source(named name: String) async throws(EventLogError) -> SourceID { SourceID(rawValue: 1) }
    func reserveSource(named name: String) async throws(EventLogError) -> SourceID { SourceID(rawValue: 1) }
    func storedCursor(_ key: String) async throws(EventLogError) -> [UInt8]? { nil }

    func append(
        _ events: [NewEvent], cursor: SourceCursor?, token: AppendToken?
    ) async throws(EventLogError) -> ClosedRange<EventSequence>? {
        count.withLock { $0 += 1 }
        while !isOpen.withLock({ $0 }) { try? await Task.sleep(for: .milliseconds(10)) }  // nothing cancels it
        return nil
    }

}

/// What a client has sent.
private final class HeardBytes: Sendable {
    let bytes = Mutex<[UInt8]>([])
}

extension BrokerFailureTests {
    /// PUBLISH with a packet id, where the quality of service asks for one.
    private static func publish(_ topic: [UInt8], _ payload: [UInt8], quality: UInt8, id: UInt16) -> [UInt8] {
        let number = quality > 0 ? [UInt8(id >> 8), UInt8(id & 0xff)] : []
        let length = 2 + topic.count + number.count + payload.count
        return [0x30 | quality << 1, UInt8(length & 0x7f | 0x80), UInt8(length >> 7 & 0x7f | 0x80), UInt8(length >> 14)]
            + [UInt8(topic.count >> 8), UInt8(topic.count & 0xff)] + topic + number + payload
    }

    @Test func `a broker that sends with a quality of service that was not asked for is left`() async throws {
        let bench = try ImportBench()
        let message = Self.publish(
            Array("msh/2/e/LongFast/!00000005".utf8), [UInt8](repeating: 7, count: 60_000), quality: 2, id: 9)
        let broker = try FakeBroker(answers: [[0x20, 2, 0, 0], [0x90, 3, 0, 1, 1]], flood: message)
        let running = try RunningIngest("mqtt://127.0.0.1:\(broker.port)", bench: bench) { $0.qualityOfService = .atLeastOnce }
        try await running.wait("the end of the connection") {
            running.notices.all.contains {
                if case .lost(let reason, _) = $0 {
                    reason.contains("quality of service 2, which was not asked for")
                } else {
                    false
                }
            }
        }
        #expect(await running.stop() == nil)
    }

    @Test func `what came before such a message is acknowledged, so that it does not come again`() async throws {
        let bench = try ImportBench()
        let topic = Array("msh/2/e/LongFast/!00000005".utf8)
        let asked = Self.publish(topic, MadeEnvelope.bytes(from: 5, id: 77), quality: 1, id: 5)
        let unasked = Self.publish(topic, MadeEnvelope.bytes(from: 5, id: 78), quality: 2, id: 9)
        let heard = HeardBytes()
        let broker = try FakeBroker(answers: [[0x20, 2, 0, 0], [0x90, 3, 0, 1, 1] + asked + unasked]) { bytes in
            heard.bytes.withLock { $0 += bytes }
        }
        let running = try RunningIngest("mqtt://127.0.0.1:\(broker.port)", bench: bench) { $0.qualityOfService = .atLeastOnce }
        try await running.wait("the acknowledgement") { heard.bytes.withLock { $0.contains([0x40, 2, 0, 5]) } }
        #expect(bench.log.head.rawValue == 1)
        #expect(await running.stop() == nil)
    }

    @Test func `in a session that is kept, what another program asked for with quality 2 is stored`() async throws {
        let bench = try ImportBench()
        let topic = Array("msh/2/e/LongFast/!00000005".utf8)
        let message = Self.publish(topic, MadeEnvelope.bytes(from: 5, id: 77), quality: 2, id: 9)
        let broker = try FakeBroker(answers: [[0x20, 2, 1, 0], [0x90, 3, 0, 1, 1] + message, [0x62, 2, 0, 9]])
        let running = try RunningIngest("mqtt://127.0.0.1:\(broker.port)", bench: bench) {
            ($0.qualityOfService, $0.clientID, $0.keepsSession) = (.atLeastOnce, "ledger", true)
        }
        try await running.wait("the message") { bench.log.head.rawValue > 0 }
        #expect(await running.stop() == nil)
    }

    @Test(.timeLimit(.minutes(2))) func `topics that take long to hash are read as fast as others`() throws {
        var kinds = MQTTTopicKinds()
        let marks = String(repeating: "\u{301}\u{323}", count: 15_000)
        for number in 0..<2_000 {
            guard case .event(.serviceEnvelope) = kinds.kind(of: "msh/2/e/\(number)\(marks)/!00000001") else {
                Issue.record("the topic has another kind")
                return
            }
        }
    }
}
