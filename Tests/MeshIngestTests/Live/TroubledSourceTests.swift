import EventLog
import Foundation
import MeshLedger
import Synchronization
import TestKit
import Testing

@testable import MeshIngest

/// Peers and a computer that do what they should not.
@Suite(.timeLimit(.minutes(3)))
struct TroubledSourceTests {
    /// A library that moves the wall clock of a program, and the file that says by how many seconds.
    private struct ClockShim {
        let library: String
        let offset: URL

        init(in folder: TemporaryFolder) throws {
            library = folder.file("clock.so").path
            offset = folder.file("clock-offset")
            let source = PackageRoot.url.appendingPathComponent("Tools/proofs/campaign.d/clock.c").path
            let made = try FinishedProcess(
                URL(fileURLWithPath: "/usr/bin/env"), ["cc", "-O1", "-shared", "-fPIC", "-o", library, source, "-ldl"])
            guard made.status == 0 else { throw BrokerFailure(made.text) }
            try Data(count: 8).write(to: offset)
        }

        /// In place: the program has mapped the file.
        func jump(to seconds: Int64) throws {
            let handle = try FileHandle(forUpdating: offset)
            try handle.write(contentsOf: unsafe withUnsafeBytes(of: seconds) { unsafe Data($0) })
            try handle.close()
        }
    }

    @Test func `a clock that jumps an hour ahead and back loses no packet and ends no connection`() async throws {
        let folder = try TemporaryFolder()
        let ledger = folder.path + "/mesh.ledger"
        try await Ledger.create(at: ledger).close()
        let shim = try ClockShim(in: folder)
        let asked = Mutex(0)
        let radio = try FakeRadio { line, _ in
            _ = line.greet(asks: 2)
            while true {
                let wanted = asked.withLock { $0 }
                if wanted < 0 { return }
                if wanted > 0 {
                    for id in 0..<100 { line.send(frame: FakeRadio.text(UInt32(wanted * 100 + id))) }
                    asked.withLock { $0 = $0 == wanted ? 0 : $0 }
                }
                usleep(5_000)
            }
        }
        defer {
            asked.withLock { $0 = -1 }
            radio.stop()
        }
        let process = try Process.start(
            BuiltProgram.url(), ["ingest", "tcp", "127.0.0.1:\(radio.port)"],
            environment: ProcessInfo.commandEnvironment(ledger: ledger, home: folder.path).merging(
                ["LD_PRELOAD": shim.library, "CLOCK_OFFSET": shim.offset.path]
            ) { $1 })
        defer { process.kill() }
        let log = try EventLog.open(at: ledger, options: EventLogOptions(access: .readOnly))
        func packets() throws -> [[UInt8]] {
            try log.allEvents().map { Array($0.payload) }.filter { FromRadioGlance($0).kind == .packet }
        }
        for (round, seconds) in [0, 3_600, 0, -3_600, 0].enumerated() {
            try shim.jump(to: Int64(seconds))
            asked.withLock { $0 = round + 1 }
            try await eventually(every: .milliseconds(20)) {
                try #require(process.isRunning)
                return try packets().count >= 100 * (round + 1)
            }
        }
        #expect(try packets() == (100..<600).map { FakeRadio.text($0) })
        await log.close()
        #expect(radio.clients.all == 1)
        process.terminate()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
    }

    @Test func `what a broker delivers again is stored and acknowledged again, and shown once`() async throws {
        let folder = try TemporaryFolder()
        let ledger = try await Ledger.create(at: folder.path + "/mesh.ledger")
        let topic = Array("msh/2/e/LongFast/!00000005".utf8)
        func publish(_ number: UInt8, isRepeated: Bool) -> [UInt8] {
            let payload = MadeEnvelope.bytes(from: 5, id: UInt32(number), text: "number \(number)")
            let head: UInt8 = isRepeated ? 0x3a : 0x32
            return [head, UInt8(4 + topic.count + payload.count), 0, UInt8(topic.count)] + topic + [0, number] + payload
        }
        let numbers = 1...20 as ClosedRange<UInt8>
        let messages = [false, true, true].flatMap { isRepeated in numbers.flatMap { publish($0, isRepeated: isRepeated) } }
        let acknowledged = Mutex<[UInt8]>([])
        let broker = try FakeBroker(answers: [[0x20, 2, 0, 0], [0x90, 3, 0, 1, 1] + messages]) { bytes in
            for start in stride(from: 0, to: bytes.count - 3, by: 4) where bytes[start] == 0x40 {
                acknowledged.withLock { $0.append(bytes[start + 3]) }
            }
        }
        var options = MQTTOptions(try MQTTAddress("mqtt://127.0.0.1:\(broker.port)"))
        options.qualityOfService = .atLeastOnce
        let running = RunningSource(MQTTIngest(options, into: IngestTarget(ledger)))
        try await eventually { acknowledged.withLock { $0.count } == 60 }
        try await running.stop()
        #expect(acknowledged.withLock { $0 } == [numbers, numbers, numbers].flatMap { Array($0) })
        #expect(ledger.log.head.rawValue == 60)
        let texts = try ledger.messages().map(\.text).sorted()
        #expect(texts == numbers.map { "number \($0)" }.sorted())
        try await ledger.close()
    }

    @Test func `datagrams that find no space count as dropped, not as received`() async throws {
        let bench = try ImportBench()
        var options = UDPOptions()
        (options.port, options.interfaces) = (try TestBroker.freePort(), ["none"])
        let filter = MulticastFilter(groups: ["127.0.0.1"])
        let running = RunningSource(UDPSource(options, into: bench.target, buffer: LiveBuffer(byteLimit: 1), filter: filter))
        try await eventually { running.source.status.connectionCount == 1 }
        let out = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
        defer { close(out) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = options.port.bigEndian
        unsafe address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isConnected = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe connect(out, $0, size) == 0 }
        }
        #expect(isConnected)
        for number in 0..<1_000 as Range<UInt32> {
            let bytes = [0x0d] + MadeEnvelope.little(number)
            _ = unsafe send(out, bytes, bytes.count, 0)
        }
        try await eventually {
            let status = running.source.status
            return status.receivedCount + status.droppedCount >= 1_000
        }
        try await running.stop()
        let status = running.source.status
        #expect(status.droppedCount > 0 && status.storedCount == status.receivedCount, "\(status)")
    }

    @Test func `a radio that lies about its answers and sends what is no protobuf hurts nobody`() async throws {
        let bench = try ImportBench()
        let radio = try FakeRadio { line, _ in
            // Answers that nobody asked for, then frames of random bytes of every length.
            line.send(frame: FakeRadio.complete(1))
            line.send(frame: FakeRadio.queueStatus(packet: 77))
            _ = line.greet(asks: 2)
            var generator = SeededGenerator(seed: 22)
            for length in 0..<512 { line.send(frame: (0..<length).map { _ in UInt8.random(in: 0...255, using: &generator) }) }
            line.send(frame: FakeRadio.text(9))
            while line.message() != nil {}
        }
        defer { radio.stop() }
        let running = RunningSource(RadioSource(.tcp(host: "127.0.0.1", port: radio.port), into: bench.target))
        try await eventually { try bench.events().contains { Array($0.payload) == FakeRadio.text(9) } }
        try await running.stop()
        #expect(running.source.status.state == .stopped && running.source.status.connectionCount == 1)
    }
}
