import EventLog
import Foundation
import Glibc
import ProtobufWire
import TestKit
import Testing

@testable import MeshLedger
@testable import MeshViews

/// Clients of the control socket that are broken, slow or many: the process that writes goes on, and serves the others.
@Suite(.timeLimit(.minutes(45)))  // on two cores, tests that wait for programs keep the others waiting
struct ControlClients {
    /// A ledger that is open for writing, with limits that a test can reach.
    private final class Bench: Sendable {
        let folder: TemporaryFolder
        let ledger: Ledger
        let server: ControlServer

        init(_ change: (inout ControlLimits) -> Void = { _ in }) async throws {
            folder = try TemporaryFolder()
            let ledger = try await Ledger.create(
                at: folder.path + "/ledger", options: LedgerOptions(log: EventLogOptions(isDurable: false), isControllable: false)
            )
            self.ledger = ledger
            var limits = ControlLimits()
            limits.patience = .seconds(600)  // a busy machine may keep a test waiting
            change(&limits)
            server = try ControlServer(ledger: ledger.path, limits: limits) { try await ledger.perform($0, progress: $1) }
        }

        func end() async throws {
            await server.close()
            try await ledger.close()
        }

        /// Whether a good client is served.
        func serves() async throws {
            let client = try await ControlClient(ledger: ledger.path)
            let before = ledger.log.head.rawValue
            let event = NewEvent([1, 2, 3], encoding: .note, source: .log)
            let answer = try await client.call(.append([event, event], cursor: nil, token: nil))
            #expect(answer.numbers == [before + 1, before + 2])
        }

        func connect() throws -> RawClient { RawClient(file: try ControlSocket.connect(to: ledger.path)) }
    }

    /// A connection on which a test sends what it likes.
    private final class RawClient: Sendable {
        let file: Int32

        init(file: Int32) { self.file = file }
        deinit { close(file) }

        func send(_ bytes: [UInt8]) {
            _ = unsafe bytes.withUnsafeBytes { unsafe Glibc.send(file, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        }

        func send(_ request: ControlRequest) { send(ControlFrame.bytes(request.bytes)) }

        func greet() async throws {
            send(.hello(lowest: 1, highest: 1))
            guard case .answer = try await reply() else { throw CocoaError(.fileReadUnknown) }
        }

        func receive(_ count: Int) -> [UInt8] {
            var bytes: [UInt8] = []
            while bytes.count < count {
                var chunk = [UInt8](repeating: 0, count: count - bytes.count)
                let got = unsafe recv(file, &chunk, chunk.count, 0)
                if got <= 0 { break }
                bytes += chunk.prefix(got)
            }
            return bytes
        }

        func reply() async throws -> ControlReply {
            let body = await waiting { client in
                let length = client.receive(4).rawSpan.littleEndian32(at: 0) ?? 0
                return client.receive(Int(length))
            }
            return try ControlReply(body.rawSpan, path: "")
        }

        /// Waits on a thread of its own: those of the pool are needed by what answers.
        private func waiting<Value: Sendable>(_ body: @escaping @Sendable (RawClient) -> Value) async -> Value {
            await withCheckedContinuation { continuation in
                Thread.detachNewThread { continuation.resume(returning: body(self)) }
            }
        }

        /// Waits for the other side to hang up.
        var isDropped: Bool {
            get async {
                await waiting { client in
                    while true {
                        var chunk = [UInt8](repeating: 0, count: 4096)
                        let got = unsafe recv(client.file, &chunk, chunk.count, 0)
                        if got <= 0 { return got == 0 || errno == ECONNRESET }
                    }
                }
            }
        }
    }

    @Test func `a process that accepts no more connections is called silent, not absent`() throws {
        let folder = try TemporaryFolder()
        let listener = try ControlSocket.listen(in: folder.path)
        defer { withExtendedLifetime(listener) {} }
        var (files, refusal): ([Int32], ControlError?) = ([], nil)
        while refusal == nil, files.count < 100 {
            do throws(ControlError) {
                files.append(try ControlSocket.connect(to: folder.path, patience: 1))
            } catch {
                refusal = error
            }
        }
        for file in files { close(file) }
        #expect(refusal?.silentProcess == 0 && refusal?.reason?.contains("suspended") == true, "\(refusal as Any)")
    }

    @Test func `garbage, huge lengths and requests out of order are refused, and others are served`() async throws {
        let bench = try await Bench()
        var random = SeededGenerator(seed: 7)
        for round in 0..<200 {
            let client = try bench.connect()
            if round % 2 == 1 { try await client.greet() }
            switch round % 5 {
            case 0: client.send(random.bytes(64) + [0xff, 0xff, 0xff, 0xff])
            case 1: client.send([0xff, 0xff, 0xff, 0x7f])
            case 2: client.send([0, 0, 0, 0])
            case 3: client.send(ControlFrame.bytes([0xff] + random.bytes(40)))
            default: client.send(Array("GET / HTTP/1.1\r\n\r\n".utf8))
            }
            shutdown(client.file, Int32(SHUT_WR))
            #expect(await client.isDropped)
        }
        let early = try bench.connect()
        early.send(.seal)
        guard case .failure(.control(let error)) = try await early.reply() else { throw CocoaError(.fileReadUnknown) }
        #expect(error.code == .protocolBroken)
        #expect(await early.isDropped)
        try await bench.serves()
        try await bench.end()
    }

    /// `MESHLEDGER_SEED` repeats a run, `MESHLEDGER_CONTROL_ROUNDS` makes it longer.
    @Test func `requests of random and changed bytes are answered, refused or done, and never more`() async throws {
        let environment = ProcessInfo.processInfo.environment
        let seed = environment["MESHLEDGER_SEED"].flatMap { UInt64($0) } ?? .random(in: 0..<1 << 40)
        let rounds = environment["MESHLEDGER_CONTROL_ROUNDS"].flatMap { Int($0) } ?? 100
        var random = SeededGenerator(seed: seed)
        let event = NewEvent([1, 2, 3], encoding: .note, source: .log, reception: .unrecorded)
        let requests: [ControlRequest] = [
            .append([event, event], cursor: SourceCursor(key: "k", value: [1], expected: .value([])), token: nil),
            .append([event], cursor: nil, token: AppendToken(first: 1, checksum: 9)), .source(named: "mqtt"), .cursor(key: "k"),
            .status, .catchUp, .seal, .erase([EventSequence(2)...EventSequence(5)], reason: "r", request: "q"),
            .retain(through: EventSequence(256), keeping: [1]), .changeKeys(.removeChannels(named: "Harbour", fingerprint: 7)),
        ]
        let bench = try await Bench()
        for _ in 0..<rounds {
            var body = requests.randomElement(using: &random)?.bytes ?? []
            switch random.next() % 4 {
            case 0: body = random.bytes(Int(random.next() % 64) + 1)
            case 1: body = Array(body.prefix(Int(random.next() % 64) + 1))
            default:
                for _ in 0...random.next() % 4 {
                    body[Int(random.next() % UInt64(body.count))] = UInt8(truncatingIfNeeded: random.next())
                }
            }
            _ = try? ControlReply(body.rawSpan, path: "")  // a client reads bytes of a process that may be any
            let client = try bench.connect()
            try await client.greet()
            client.send(ControlFrame.bytes(body))
            var isAnswered = false
            while !isAnswered {
                switch try await client.reply() {
                case .answer, .failure: isAnswered = true
                case .alive, .progress: break
                }
            }
        }
        try await bench.serves()
        try await bench.end()
        let log = try EventLog.open(at: bench.ledger.path)
        #expect(try log.verify().isIntact, "seed \(seed)")
        await log.close()
    }

    @Test func `an unknown request and another version are refused, the former without losing the connection`() async throws {
        let bench = try await Bench()
        let client = try bench.connect()
        try await client.greet()
        client.send(.unknown(900))
        guard case .failure(.control(let error)) = try await client.reply() else { throw CocoaError(.fileReadUnknown) }
        #expect(error.code == .unknownRequest)
        #expect(error.reason?.contains("kind 900") == true && error.reason?.contains("process \(getpid())") == true)
        client.send(.source(named: "still here"))
        guard case .answer(let answer) = try await client.reply() else { throw CocoaError(.fileReadUnknown) }
        #expect(answer.numbers == [1])
        let old = try bench.connect()
        old.send(.hello(lowest: 7, highest: 9))
        guard case .failure(.control(let version)) = try await old.reply() else { throw CocoaError(.fileReadUnknown) }
        #expect(version.reason?.contains("version 1") == true)
        #expect(await old.isDropped)
        try await bench.end()
    }

    @Test func `clients that hang up in the middle of a request harm nobody`() async throws {
        let bench = try await Bench()
        let events = Array(repeating: NewEvent([UInt8](repeating: 7, count: 1_000), encoding: .note, source: .log), count: 100)
        let frame = ControlFrame.bytes(ControlRequest.append(events, cursor: nil, token: nil).bytes)
        for round in 0..<100 {
            let client = try bench.connect()
            try await client.greet()
            client.send(Array(frame.prefix(round * frame.count / 50 + 5)))
        }
        await bench.server.close()
        let head = bench.ledger.log.head.rawValue
        #expect(head % 100 == 0)  // whole requests or nothing
        try await bench.end()
    }

    @Test func `silent clients cost no threads and keep nobody out`() async throws {
        let bench = try await Bench { limits in
            limits.mostClients = 8
            limits.idleTime = .milliseconds(1)
            limits.patience = .seconds(60)
        }
        let threads = try Self.threads()
        var idle: [RawClient] = []
        for _ in 0..<100 {
            let client = try bench.connect()
            try await client.greet()
            idle.append(client)
            try await Task.sleep(for: .milliseconds(3))
        }
        #expect(try Self.threads() < threads + 50)  // those of the pool and of other tests come and go
        try await bench.serves()
        #expect(await idle[0].isDropped)
        try await bench.end()
    }

    @Test func `where all places are at work another client is refused`() async throws {
        let bench = try await Bench { limits in
            limits.mostClients = 2
            limits.idleTime = .seconds(600)
        }
        let held = try [bench.connect(), bench.connect()]
        defer { withExtendedLifetime(held) {} }  // an array is let go after its last use, and its clients would hang up
        for client in held { try await client.greet() }
        let third = try bench.connect()
        guard case .failure(.control(let error)) = try await third.reply() else { throw CocoaError(.fileReadUnknown) }
        #expect(error.code == .busy)
        #expect(await third.isDropped)
        try await bench.end()
    }

    @Test func `a client that stops in the middle of a frame is let go`() async throws {
        let bench = try await Bench { $0.patience = .milliseconds(50) }
        let slow = try bench.connect()
        slow.send([9, 0])
        #expect(await slow.isDropped)
        let mute = try bench.connect()
        #expect(await mute.isDropped)
        try await bench.serves()
        try await bench.end()
    }

    @Test func `more bytes than may be held wait their turn, and all are stored`() async throws {
        let bench = try await Bench { $0.mostBytes = 1 << 20 }
        let event = NewEvent([UInt8](repeating: 7, count: 64 << 10), encoding: .note, source: .log)
        let events = Array(repeating: event, count: 12)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<12 {
                group.addTask { [path = bench.ledger.path] in
                    let client = try await ControlClient(ledger: path)
                    for _ in 0..<4 { _ = try await client.call(.append(events, cursor: nil, token: nil)) }
                }
            }
            try await group.waitForAll()
        }
        #expect(bench.ledger.log.head.rawValue == 12 * 4 * 12)
        try await bench.end()
    }

    @Test func `progress that cannot be is refused: no one computes with it`() throws {
        func read(_ start: UInt64, _ position: UInt64, _ target: UInt64) throws -> ControlReply {
            try ControlReply(
                ControlReply.progress(ControlProgress(start: start, position: position, target: target)).bytes.rawSpan, path: "")
        }
        for (start, position, target) in [
            (0, 0, 0), (0, 7, 0), (3, 3, 3), (3, 9, 7), (0, UInt64(Int64.max), UInt64(Int64.max)),
        ] as [(UInt64, UInt64, UInt64)] {
            guard case .progress(let state) = try read(start, position, target) else { throw CocoaError(.fileReadUnknown) }
            #expect(state == ControlProgress(start: start, position: position, target: target))
        }
        for (start, position, target) in [
            (.max, .max, .max), (4, 3, 9), (4, 9, 3), (0, .max, 5), (0, 5, UInt64(Int64.max) + 1),
        ] as [(UInt64, UInt64, UInt64)] {
            let refused = #expect(throws: ControlError.self) { _ = try read(start, position, target) }
            #expect(
                refused?.code == .protocolBroken && refused.map { "\($0)" } == "an impossible progress",
                "\(start) \(position) \(target)")
        }
    }

    private static func threads() throws -> Int {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix("Threads:") }
        return try #require(line.flatMap { Int($0.split(separator: "\t")[1]) })
    }
}
