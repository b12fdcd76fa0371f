import EventLog
import Foundation
import Meshtastic
import Synchronization
import TestKit
import Testing

@testable import MeshIngest

/// A radio over TCP, made to do what radios do.
@Suite(.timeLimit(.minutes(2)))
struct RadioSourceTests {
    private static let quick: RadioOptions = {
        var options = RadioOptions()
        (options.heartbeatSeconds, options.firstRetrySeconds, options.longestRetrySeconds) = (0.05, 0.01, 0.05)
        return options
    }()

    private static func frames(_ bench: ImportBench) throws -> [[UInt8]] { try bench.events().map { Array($0.payload) } }

    private static func packets(_ bench: ImportBench) throws -> [[UInt8]] {
        try frames(bench).filter { FromRadioGlance($0).kind == .packet }
    }

    private func source(_ radio: FakeRadio, _ bench: ImportBench, _ options: RadioOptions = quick) -> RunningSource<RadioSource> {
        RunningSource(RadioSource(.tcp(host: "127.0.0.1", port: radio.port), into: bench.target, options: options))
    }

    @Test func `it asks for configuration and nodes once, later for the configuration only, and has one connection at a time`()
        async throws
    {
        let bench = try ImportBench()
        let asked = Mutex<[[UInt32]]>([])
        let radio = try FakeRadio { line, number in
            let questions = line.greet(asks: number == 1 ? 2 : 1)
            asked.withLock { $0.append(questions) }
            for id in 0..<UInt32(5) { line.send(frame: FakeRadio.text(UInt32(number) * 10 + id)) }
            // It leaves; the last client stays until it leaves itself.
            if number == 3 { while line.message() != nil {} }
        }
        defer { radio.stop() }
        let running = source(radio, bench)
        try await eventually { try Self.packets(bench).count == 15 && running.source.status.state == .live }
        try await running.stop()
        #expect(asked.withLock { $0 } == [[69_420, 69_421], [69_420], [69_420]])
        #expect(radio.clients.most == 1 && radio.clients.all == 3)
        #expect(try Self.packets(bench) == (1...3).flatMap { number in (0..<5).map { FakeRadio.text(UInt32(number * 10 + $0)) } })
        let status = running.source.status
        #expect(status.state == .stopped && status.connectionCount == 3 && status.storedCount == status.receivedCount)
        #expect(status.lastError?.contains("closed the connection") == true)
        #expect(try bench.log.sources().map(\.name) == ["tcp://127.0.0.1:\(radio.port)"])
    }

    @Test func `keys are zeroed in what is stored and kept in memory, and answers to heartbeats are not stored`() async throws {
        let bench = try ImportBench()
        let psk = [UInt8](1...16)
        let radio = try FakeRadio { line, _ in
            _ = line.greet(asks: 2, psk: psk)
            line.send(frame: FakeRadio.queueStatus())
            line.send(frame: FakeRadio.queueStatus(packet: 9))
            while line.message() != nil {}
        }
        defer { radio.stop() }
        let running = source(radio, bench)
        try await eventually { try Self.frames(bench).contains(FakeRadio.queueStatus(packet: 9)) }
        try await running.stop()
        let stored = try Self.frames(bench)
        #expect(stored.contains(FakeRadio.channel([UInt8](repeating: 0, count: 16))) && !stored.contains(FakeRadio.channel(psk)))
        #expect(!stored.contains(FakeRadio.queueStatus()))
        #expect(running.source.radioKeys.channels.map(\.key) == [psk])
    }

    @Test func `a radio that takes bytes but gives no sign of life is left after three heartbeats`() async throws {
        let bench = try ImportBench()
        let heartbeats = Mutex(0)
        let answers = Mutex(0)
        let radio = try FakeRadio { line, number in
            _ = line.greet(asks: number == 1 ? 2 : 1)
            line.send(frame: FakeRadio.text(UInt32(number)))
            while let message = line.message() {
                if number == 1, message == ToRadioMessage.heartbeat { heartbeats.withLock { $0 += 1 } }
                if number > 1, line.send(frame: FakeRadio.queueStatus()) { answers.withLock { $0 += 1 } }
            }
        }
        defer { radio.stop() }
        var options = Self.quick
        options.heartbeatSeconds = 0.15
        let running = source(radio, bench, options)
        try await eventually { try Self.packets(bench).count == 2 }
        // The second one answers, and stays for longer than the first one could.
        try await eventually { answers.withLock { $0 } == 8 }
        // One may have been on its way already when the packet came.
        #expect(radio.clients.all == 2 && (3...4).contains(heartbeats.withLock { $0 }))
        let said = running.source.status.lastError ?? ""
        #expect(said.hasSuffix("the radio did not answer for 1 s"), "\(said)")
        try await running.stop()
    }

    @Test func `a peer that is no radio is left, however much it sends, and never counts as one`() async throws {
        let bench = try ImportBench()
        let radio = try FakeRadio { line, _ in while line.send(Array("HTTP/1.1 400 Bad Request\r\n".utf8)) { usleep(2_000) } }
        defer { radio.stop() }
        let states = Mutex<Set<SourceState>>([])
        let source = RadioSource(.tcp(host: "127.0.0.1", port: radio.port), into: bench.target, options: Self.quick) {
            status, _ in
            _ = states.withLock { $0.insert(status.state) }
        }
        let running = RunningSource(source)
        try await eventually { radio.clients.all == 3 }
        try await running.stop()
        #expect(source.status.lastError?.contains("what it sends is no radio's stream") == true)
        #expect(states.withLock { $0 } == [.connecting, .waiting, .stopped])
        #expect(try bench.events().isEmpty)
    }

    @Test func `a host without a name or a listener is said in plain words`() async throws {
        let bench = try ImportBench()
        for (host, reason) in [("no-such-host.invalid", "no-such-host.invalid"), ("127.0.0.1", "Connection refused")] {
            let running = RunningSource(
                RadioSource(.tcp(host: host, port: try TestBroker.freePort()), into: bench.target, options: Self.quick))
            try await eventually { running.source.status.lastError != nil }
            try await running.stop()
            let error = running.source.status.lastError ?? ""
            #expect(error.contains(reason) && !error.contains("Error") && !error.contains("Failure"), "\(error)")
        }
    }

    @Test func `frames are found in console text, garbage and single bytes; one that a loss cuts is not stored`() async throws {
        let bench = try ImportBench()
        let radio = try FakeRadio { line, number in
            _ = line.greet(asks: number == 1 ? 2 : 1)
            guard number == 1 else {
                while line.message() != nil {}
                return
            }
            line.send(Array("INFO | Booted, battery 94\n".utf8) + [0x94, 0xc3, 0xff, 0xff, 0x00])
            for id in 0..<UInt32(3) {
                for byte in StreamFrame.around(FakeRadio.text(id)) ?? [] { line.send([byte]) }
                line.send([0x94, 0x94, 0xc3])
            }
            line.send(Array((StreamFrame.around(FakeRadio.text(9)) ?? []).dropLast(3)))
        }
        defer { radio.stop() }
        let running = source(radio, bench)
        try await eventually { radio.clients.all == 2 && running.source.status.state == .live }
        try await running.stop()
        #expect(try Self.packets(bench) == (0..<3).map { FakeRadio.text($0) })
        #expect(running.source.status.skippedBytes > 30)
    }

    @Test func `a radio that starts again is asked again`() async throws {
        let bench = try ImportBench()
        let asked = Mutex<[UInt32]>([])
        let radio = try FakeRadio { line, _ in
            _ = line.greet(asks: 2)
            line.send(frame: [0x40, 0x01])  // rebooted
            let questions = line.greet(asks: 1)
            asked.withLock { $0 += questions }
            line.send(frame: FakeRadio.text(1))
            while line.message() != nil {}
        }
        defer { radio.stop() }
        let running = source(radio, bench)
        try await eventually { try Self.packets(bench).count == 1 }
        try await running.stop()
        #expect(asked.withLock { $0 } == [69_420])
    }

    @Test func `a radio whose answer has lost its end is asked again, while its packets come`() async throws {
        let bench = try ImportBench()
        let asked = Mutex<[UInt32]>([])
        let radio = try FakeRadio { line, _ in
            var id: UInt32 = 0
            while let message = line.message() {
                id += 1
                line.send(frame: FakeRadio.text(id))
                guard let nonce = FakeRadio.nonce(message) else { continue }
                let count = asked.withLock { asked in
                    asked.append(nonce)
                    return asked.count
                }
                line.send(frame: FakeRadio.myInfo)
                if count > 1 { line.send(frame: FakeRadio.complete(nonce)) }
            }
        }
        defer { radio.stop() }
        let running = source(radio, bench)
        try await eventually { running.source.status.state == .live }
        try await running.stop()
        #expect(asked.withLock { $0 } == [69_420, 69_420, 69_421] && radio.clients.all == 1)
    }

    @Test func `a flood is stored whole, with no more than the buffer in memory`() async throws {
        let bench = try ImportBench()
        let count: UInt32 = 20_000
        let radio = try FakeRadio { line, _ in
            _ = line.greet(asks: 2)
            for first in stride(from: 0, to: count, by: 500) {
                line.send((first..<first + 500).flatMap { StreamFrame.around(FakeRadio.text($0)) ?? [] })
            }
            while line.message() != nil {}
        }
        defer { radio.stop() }
        let running = source(radio, bench, RadioOptions())
        try await eventually { running.source.status.storedCount >= UInt64(count) + 5 }
        try await running.stop()
        #expect(try Self.packets(bench) == (0..<count).map { FakeRadio.text($0) })
    }

    @Test func `a serial radio is listened to over a pseudo-terminal, and again when it was unplugged and is back`() async throws
    {
        let bench = try ImportBench()
        let name = bench.path("usb-radio")
        var port = try FakePort(named: name)
        let lines = Mutex<[String]>([])
        let running = RunningSource(
            RadioSource(.serial(path: name), into: bench.target, options: Self.quick) { _, line in
                lines.withLock { $0.append(line) }
            })
        let first = port.line
        let greeted = Task.detached {
            let asked = first.greet(asks: 2)
            first.send(frame: FakeRadio.text(1))
            first.send(Array("DEBUG | console\r\n".utf8))
            first.send(frame: FakeRadio.text(2))
            return asked
        }
        #expect(await greeted.value == [69_420, 69_421])
        try await eventually { try Self.packets(bench).count == 2 }
        try port.unplug()
        try await eventually { running.source.status.lastError?.contains("no device") == true }
        #expect(!lines.withLock { $0 }.contains { $0.contains("another client") })
        port = try FakePort(named: name)
        let second = port.line
        let again = Task.detached {
            let asked = second.greet(asks: 1)
            second.send(frame: FakeRadio.text(3))
            return asked
        }
        #expect(await again.value == [69_420])
        try await eventually { try Self.packets(bench).count == 3 }
        try await running.stop()
        #expect(try Self.packets(bench) == (1...3).map { FakeRadio.text($0) })
        #expect(running.source.status.skippedBytes == 17)
        try port.unplug()
    }

    @Test func `a path that is no serial port ends it, and a port has one user`() async throws {
        let bench = try ImportBench()
        let path = try bench.write("text", to: "file")
        await #expect(throws: IngestError.self) { try await RadioSource(.serial(path: path), into: bench.target).run() }
        let name = bench.path("usb-radio")
        let port = try FakePort(named: name)
        let descriptor = try SerialPort.open(name, raisesDTR: true)
        #expect(throws: IngestError.self) { try SerialPort.open(name, raisesDTR: true) }
        var settings = termios()
        let got = unsafe tcgetattr(descriptor, &settings)
        #expect(got == 0)
        let speed = unsafe cfgetospeed(&settings)
        #expect(settings.c_cflag & tcflag_t(HUPCL) == 0 && speed == speed_t(B115200))
        close(descriptor)
        try port.unplug()
    }

    @Test(arguments: [
        ("roof", "tcp://roof:4403"), ("10.0.0.1:99", "tcp://10.0.0.1:99"), ("[fe80::1]:99", "tcp://[fe80::1]:99"),
        ("fe80::1", "tcp://[fe80::1]:4403"),
    ])
    func `an address is a host and a port`(_ text: String, _ name: String) throws {
        #expect(try RadioAddress(host: text).text == name)
    }

    @Test(arguments: ["", ":4403", "roof:0", "roof:99999", "roof:x", "tcp://roof", "[fe80::1]x", "10.0.0.1:4403:5", " 10.0.0.1"])
    func `what is no address is refused`(_ text: String) {
        #expect(throws: IngestError.self) { try RadioAddress(host: text) }
    }
}
