import EventLog
import Foundation
import MeshLedger
import Meshtastic
import ProtobufWire
import Synchronization
import TestKit
import Testing

@testable import MeshIngest

/// A radio that many clients share.
@Suite(.timeLimit(.minutes(3)))
struct SharedRadioTests {
    /// What the radio receives, and its text number after number when the test asks for it.
    final class Radio: Sendable {
        let radio: FakeRadio
        let heard: Heard
        /// The requests for its configuration after the first ones.
        let asked: Heard
        private let (line, away, key): (Line, Away, Key)

        /// - Parameters:
        ///   - isAskedAll: whether each connection asks for the nodes, as those of different processes do.
        ///   - acknowledges: whether what is sent is heard by the mesh.
        init(isAskedAll: Bool = false, acknowledges: Bool = false) throws {
            let ((heard, asked), (line, away, key)) = ((Heard(), Heard()), (Line(), Away(), Key()))
            ((self.heard, self.asked), (self.line, self.away, self.key)) = ((heard, asked), (line, away, key))
            radio = try FakeRadio { client, number in
                if away.isSet { return }
                _ = client.greet(asks: isAskedAll || number == 1 ? 2 : 1, psk: key.bytes)
                line.set(client)
                while let message = client.message() {
                    if message == ToRadioMessage.heartbeat { continue }
                    if let nonce = FakeRadio.nonce(message) {
                        asked.add(message)
                        let answer = [FakeRadio.myInfo, FakeRadio.channel(key.bytes), FakeRadio.complete(nonce)]
                        for frame in answer { client.send(frame: frame) }
                        continue
                    }
                    heard.add(message)
                    if case .packet(let packet) = ClientMessage(message, from: 0) {
                        client.send(frame: FakeRadio.queueStatus(packet: packet.id))
                        if acknowledges { client.send(frame: FakeRadio.acknowledgement(of: packet.id)) }
                    }
                }
            }
        }

        func send(_ frame: [UInt8]) { line.get()?.send(frame: frame) }

        func set(key: [UInt8]) { self.key.set(key) }

        /// Closes the connection, and takes the next one.
        func hangUp() { if let line = line.get() { shutdown(line.descriptor, Int32(SHUT_RDWR)) } }

        /// Out of reach: closes the connection, and each new one at once.
        func leave() {
            away.set(true)
            hangUp()
        }

        func comeBack() { away.set(false) }

        func say(_ ids: Range<UInt32>) { for id in ids { line.get()?.send(frame: FakeRadio.text(id)) } }
    }

    final class Line: Sendable {
        private let line = Mutex<FakeLine?>(nil)
        func set(_ new: FakeLine) { line.withLock { $0 = new } }
        func get() -> FakeLine? { line.withLock { $0 } }
    }

    /// The key of its channel.
    final class Key: Sendable {
        private let key = Mutex([UInt8](1...16))
        var bytes: [UInt8] { key.withLock { $0 } }
        func set(_ new: [UInt8]) { key.withLock { $0 = new } }
    }

    final class Away: Sendable {
        private let state = Mutex(false)
        var isSet: Bool { state.withLock { $0 } }
        func set(_ new: Bool) { state.withLock { $0 = new } }
    }

    final class Heard: Sendable {
        private let messages = Mutex<[[UInt8]]>([])
        var all: [[UInt8]] { messages.withLock { $0 } }
        func add(_ message: [UInt8]) { messages.withLock { $0.append(message) } }
    }

    static func clients(_ count: Int, _ port: UInt16) async throws -> [StreamClient] {
        var clients: [StreamClient] = []
        for _ in 0..<count { clients.append(try await StreamClient.connected(to: port)) }
        return clients
    }

    static func packet(_ id: UInt32, port: UInt32 = 1, wantsAck: Bool = false) -> [UInt8] {
        var writer = WireWriter()
        writer.message(1) { packet in
            packet.fixed32(2, .max)
            packet.message(4) {
                $0.uint32(1, port)
                $0.string(2, "hi")
            }
            packet.fixed32(6, id)
            if wantsAck { packet.bool(10, true) }
        }
        return writer.bytes
    }

    /// What is reported of a source.
    final class Lines: Sendable {
        private let lines = Mutex<[String]>([])
        func add(_ line: String) { lines.withLock { $0.append(line) } }
        func contains(_ text: String) -> Bool { lines.withLock { $0.contains { $0.contains(text) } } }
    }

    func share(
        _ radio: Radio, _ bench: ImportBench, _ change: (inout ShareOptions) -> Void = { _ in },
        lines: @escaping @Sendable (String) -> Void = { _ in }
    ) throws -> (running: RunningSource<SharedRadio>, port: UInt16) {
        var options = ShareOptions(port: try TestBroker.freePort())
        change(&options)
        let source = RadioSource(.tcp(host: "127.0.0.1", port: radio.radio.port), into: bench.target) { _, line in lines(line) }
        return (RunningSource(SharedRadio(source, options, log: bench.log)), options.port)
    }

    @Test func `each client gets the configuration with its keys and its own nonce, and each packet once and in order`()
        async throws
    {
        let (bench, radio) = (try ImportBench(), try Radio())
        defer { radio.radio.stop() }
        let (running, port) = try share(radio, bench)
        let clients = try await Self.clients(5, port)
        for (number, client) in clients.enumerated() {
            let nonce = UInt32(1_000 + number)
            let answer = await client.greet(nonce)
            #expect(
                answer == [
                    FakeRadio.myInfo, FakeRadio.channel([UInt8](1...16)), FakeRadio.nodeInfo(7), FakeRadio.complete(nonce),
                ])
            client.send(frame: ToRadioMessage.heartbeat)
            #expect(await client.next() == FakeRadio.queueStatus())
        }
        #expect(await clients[0].greet(69_420).count == 3)
        #expect(await clients[0].greet(69_421).count == 2)
        radio.say(0..<2_000)
        // Each reads when it comes to it: the first ones to be read hold up none of the others.
        for client in clients.reversed() { #expect(await client.next(2_000) == (0..<2_000).map { FakeRadio.text($0) }) }
        #expect(radio.radio.clients.all == 1)
        try await running.stop()
        let stored = try bench.events().map { Array($0.payload) }
        #expect(!stored.contains(FakeRadio.channel([UInt8](1...16))))
    }

    @Test func `what clients send is stored, naming them, and given to the radio in order; its answer goes to the sender`()
        async throws
    {
        let (bench, radio) = (try ImportBench(), try Radio())
        defer { radio.radio.stop() }
        let (running, port) = try share(radio, bench)
        let (one, two) = (try await StreamClient.connected(to: port), try await StreamClient.connected(to: port))
        await one.greet(1)
        await two.greet(2)
        for id in 1...20 as ClosedRange<UInt32> {
            let sender = id % 2 == 0 ? two : one
            sender.send(frame: Self.packet(id))
            #expect(await sender.next() == FakeRadio.queueStatus(packet: id))
        }
        let own = Self.sent(1...20)
        #expect(radio.heard.all == own.map(ToRadioMessage.packet))
        try await running.stop()
        let source = try bench.log.sources().first { $0.name.hasSuffix("/client 127.0.0.1") }
        #expect(try bench.events().filter { $0.header.source == source?.id }.map { Array($0.payload) } == own)
    }

    /// The packets as the radio gets them: from its own node.
    static func sent(_ ids: ClosedRange<UInt32>) -> [[UInt8]] {
        ids.map { id in
            guard case .packet(let packet) = ClientMessage(packet(id), from: 0x1000_0001) else { return [] }
            return packet.bytes
        }
    }

    @Test func `settings are refused unless the client's network may change them, also where they cannot be recognised`()
        async throws
    {
        let (bench, radio) = (try ImportBench(), try Radio())
        defer { radio.radio.stop() }
        let (running, port) = try share(radio, bench)
        let client = try await StreamClient.connected(to: port)
        _ = await client.greet(1)
        client.send(frame: Self.packet(5, port: 6))
        #expect(await client.next() == FromRadioMessage.queueStatus(result: 33, packet: 5))
        var hidden = WireWriter()
        hidden.message(1) { packet in
            packet.bytes(5, [1, 2, 3])
            packet.fixed32(6, 6)
        }
        client.send(frame: hidden.bytes)
        #expect(await client.next() == FromRadioMessage.queueStatus(result: 33, packet: 6))
        client.send(frame: Self.packet(7))
        #expect(await client.next() == FakeRadio.queueStatus(packet: 7))
        #expect(radio.heard.all == Self.sent(7...7).map(ToRadioMessage.packet))
        // Who asks for an answer gets one that clients show.
        client.send(frame: Self.packet(9, port: 6, wantsAck: true))
        #expect(await client.next() == FromRadioMessage.queueStatus(result: 33, packet: 9))
        let refusal = try #require(await client.next())
        let packet = try Self.routing(refusal)
        #expect(packet.from == 0x1000_0001 && packet.to == 0x1000_0001 && packet.requestID == 9 && packet.error == 33)
        try await running.stop()
        let other = try Radio()
        defer { other.radio.stop() }
        let (second, there) = try share(other, bench) { $0.admins = NetworkRange.loopback }
        let admin = try await StreamClient.connected(to: there)
        _ = await admin.greet(1)
        admin.send(frame: Self.packet(8, port: 6))
        #expect(await admin.next() == FakeRadio.queueStatus(packet: 8))
        try await second.stop()
    }

    /// A routing packet of the radio itself.
    private static func routing(_ frame: [UInt8]) throws -> (from: UInt32, to: UInt32, requestID: UInt32, error: UInt64) {
        var found: (from: UInt32, to: UInt32, requestID: UInt32, error: UInt64) = (0, 0, 0, 0)
        func visit(_ bytes: [UInt8], _ body: (WireField, [UInt8]) throws -> Void) throws {
            var reader = WireReader(bytes.rawSpan)
            while let field = try reader.next() {
                let isNested = field.tag == WireField.tag(field.number, .lengthDelimited)
                try body(field, isNested ? reader.bytes(field).asArray : [])
            }
        }
        try visit(frame) { field, packet in
            #expect(field.number == 2)
            try visit(packet) { field, data in
                if field.number == 1 { found.from = field.asUInt32 }
                if field.number == 2 { found.to = field.asUInt32 }
                guard field.number == 4 else { return }
                try visit(data) { field, payload in
                    if field.number == 1 { #expect(field.scalar == 5) }
                    if field.number == 6 { found.requestID = field.asUInt32 }
                    if field.number == 2 {
                        try visit(payload) { field, _ in if field.number == 3 { found.error = field.scalar } }
                    }
                }
            }
        }
        return found
    }

    @Test func `who asks for an answer gets one when the ledger has no space for the packet`() async throws {
        let (bench, radio) = (try ImportBench(), try Radio())
        defer { radio.radio.stop() }
        let (running, port) = try share(radio, bench)
        let client = try await StreamClient.connected(to: port)
        _ = await client.greet(1)
        bench.log.setSizeLimit(1)
        client.send(frame: Self.packet(9, wantsAck: true))
        #expect(await client.next() == FromRadioMessage.queueStatus(result: 8, packet: 9, free: 0))
        let packet = try Self.routing(try #require(await client.next()))
        #expect(packet.requestID == 9 && packet.error == 4)
        client.send(frame: Self.packet(10))
        #expect(await client.next() == FromRadioMessage.queueStatus(result: 8, packet: 10, free: 0))
        #expect(radio.heard.all.isEmpty)
        bench.log.setSizeLimit(1 << 30)
        try await running.stop()
    }

    @Test func `a message that is too long for a frame is not ignored without a word`() async throws {
        let (bench, radio) = (try ImportBench(), try Radio())
        defer { radio.radio.stop() }
        let lines = Mutex<[String]>([])
        let (running, port) = try share(radio, bench, lines: { line in lines.withLock { $0.append(line) } })
        let client = try await StreamClient.connected(to: port)
        client.send(StreamFrame.wakeUp)
        await client.greet(1)
        #expect(running.source.status.clientCount == 1)
        #expect(!lines.withLock { $0 }.contains { $0.contains("not a frame") })
        client.send([0x94, 0xc3, 0x02, 0x58] + [UInt8](repeating: 7, count: 1_200))
        try await eventually { lines.withLock { $0 }.contains { $0.contains("not a frame") } }
        try await running.stop()
    }

    @Test func `a client that was away gets what it missed, and those that babble, or never read, harm nobody`() async throws {
        let (bench, radio) = (try ImportBench(), try Radio())
        defer { radio.radio.stop() }
        let (running, port) = try share(radio, bench)
        var away: StreamClient? = try await StreamClient.connected(to: port)
        _ = await away?.greet(1)
        radio.say(0..<10)
        #expect(await away?.next(10).count == 10)
        away = nil
        try await eventually { running.source.clientCount == 0 }
        radio.say(10..<300)
        try await eventually { try bench.events().count >= 300 }
        let back = try await StreamClient.connected(to: port)
        _ = await back.greet(2)
        #expect(await back.next(290) == (10..<300).map { FakeRadio.text($0) })
        let silent = try await StreamClient.connected(to: port)
        silent.send(frame: ToRadioMessage.wantConfig(3))
        let babbling = try await StreamClient.connected(to: port)
        for _ in 0..<50 { babbling.send((0..<1_000).map { _ in UInt8.random(in: 0...255) }) }
        let many = try await Self.clients(80, port)
        radio.say(300..<4_000)
        #expect(await back.next(3_700) == (300..<4_000).map { FakeRadio.text($0) })
        #expect(running.source.clientCount <= 64 && radio.radio.clients.all == 1)
        try await running.stop()
        withExtendedLifetime((silent, babbling, many)) {}
    }

    @Test func `a client goes on where it was when the one that shares the radio was started again`() async throws {
        let (bench, radio) = (try ImportBench(), try Radio(isAskedAll: true))
        defer { radio.radio.stop() }
        let (first, port) = try share(radio, bench)
        var client: StreamClient? = try await StreamClient.connected(to: port)
        _ = await client?.greet(1)
        radio.say(0..<10)
        #expect(await client?.next(10).count == 10)
        client = nil
        try await eventually { first.source.clientCount == 0 }
        radio.say(10..<20)
        try await eventually { try bench.events().count { FromRadioGlance(Array($0.payload)).kind == .packet } == 20 }
        try await first.stop()
        let (second, there) = try share(radio, bench)
        let back = try await StreamClient.connected(to: there)
        _ = await back.greet(2)
        radio.say(20..<30)
        #expect(await back.next(20) == (10..<30).map { FakeRadio.text($0) })
        try await second.stop()
    }

    @Test func `the command shares a radio with flags alone, and stores what its clients send`() async throws {
        let (folder, radio) = (try TemporaryFolder(), try Radio())
        defer { radio.radio.stop() }
        let ledger = folder.path + "/mesh.ledger"
        try await Ledger.create(at: ledger).close()
        func start(_ arguments: [String]) throws -> Process {
            try Process.start(
                BuiltProgram.url(), ["ingest", "tcp", "127.0.0.1:\(radio.radio.port)"] + arguments,
                environment: ProcessInfo.commandEnvironment(ledger: ledger, home: folder.path))
        }
        let own = ["--share", "\(radio.radio.port)"]
        for wrong in [["--share", "x"], ["--share-allow", "127.0.0.1"], ["--share", "4403", "--share-admin", "here"], own] {
            let process = try start(wrong)
            process.waitUntilExit()
            #expect(process.terminationStatus == 64, "\(wrong)")
        }
        let port = try TestBroker.freePort()
        let process = try start(["--share", "127.0.0.1:\(port)", "--share-allow", "127.0.0.0/8"])
        defer { process.kill() }
        let client = try await StreamClient.connected(to: port)
        #expect(await client.greet(5).last == FakeRadio.complete(5))
        radio.say(0..<20)
        #expect(await client.next(20) == (0..<20).map { FakeRadio.text($0) })
        client.send(frame: Self.packet(9))
        #expect(await client.next() == FakeRadio.queueStatus(packet: 9))
        process.terminate()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        let log = try EventLog.open(at: ledger, options: EventLogOptions(access: .readOnly))
        let source = try log.sources().first { $0.name.hasSuffix("/client 127.0.0.1") }
        #expect(try log.allEvents().filter { $0.header.source == source?.id }.map { Array($0.payload) } == Self.sent(9...9))
        await log.close()
    }

    @Test(.enabled(if: OraclePython.path != nil, Comment(rawValue: OraclePython.need)))
    func `five official clients see its nodes and packets, and the acknowledgement that one asked for reaches it`() async throws {
        let (bench, radio) = (try ImportBench(), try Radio(acknowledges: true))
        defer { radio.radio.stop() }
        let (running, port) = try share(radio, bench)
        let clients = try [["--send", "hello"], [], [], [], []].map { try OfficialClient(port: port, $0) }
        for client in clients {
            let seen = try await client.line { $0["nodes"] != nil }
            #expect(seen["nodes"] as? [Int] == [7] && seen["channels"] as? [String] == ["Secret"])
        }
        let sent = try await clients[0].line { $0["sent"] != nil }["sent"] as? Int
        let answer = try await clients[0].line { $0["acknowledged"] != nil }
        #expect(sent != nil && answer["acknowledged"] as? Int == sent && answer["error"] as? String == "NONE")
        radio.say(100..<150)
        for client in clients {
            _ = try await client.line { $0["packet"] as? Int == 149 }
            let ids = client.lines.compactMap { $0["packet"] as? Int }.filter { (100..<150).contains($0) }
            #expect(ids == Array(100..<150))
        }
        #expect(radio.radio.clients.all == 1)
        for client in clients { client.stop() }
        try await running.stop()
    }
}

/// `Tests/Oracle/stream_client.py`: the official Python client as a process.
private final class OfficialClient {
    private let process: Process
    private let output: URL
    private let folder: TemporaryFolder
    /// It ends with it.
    private let input = Pipe()

    init(port: UInt16, _ arguments: [String]) throws {
        folder = try TemporaryFolder()
        output = folder.file("output")
        try Data().write(to: output)
        let script = PackageRoot.url.appendingPathComponent("Tests/Oracle/stream_client.py").path
        process = try Process.start(
            URL(fileURLWithPath: OraclePython.path ?? ""), [script, "127.0.0.1", "\(port)"] + arguments, input: input,
            output: FileHandle(forWritingTo: output))
    }

    deinit { stop() }

    var lines: [[String: Any]] {
        let text = (try? String(contentsOf: output, encoding: .utf8)) ?? ""
        return text.split(separator: "\n").compactMap {
            (try? JSONSerialization.jsonObject(with: Data($0.utf8))) as? [String: Any]
        }
    }

    /// Waits until it says something.
    func line(_ isWanted: ([String: Any]) -> Bool) async throws -> [String: Any] {
        var found: [String: Any]?
        do {
            try await eventually(every: .milliseconds(20)) {
                found = lines.first(where: isWanted)
                return found != nil
            }
        } catch {
            Issue.record("the official client said only \(lines.suffix(5))")
            throw error
        }
        return try #require(found)
    }

    func stop() {
        process.kill()
        process.waitUntilExit()
    }
}
