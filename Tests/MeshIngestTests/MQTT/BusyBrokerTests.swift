import EventLog
import Foundation
import MeshLedger
import TestKit
import Testing

@testable import MeshIngest

/// A process that listens to a real broker, and commands that write beside it while messages come.
@Suite(.enabled(if: TestBroker.isInstalled, "needs mosquitto"), .timeLimit(.minutes(40)))
struct BusyBrokerTests {
    private static let messages = 3_000
    private static let imported = 2_000
    private static let topic = "msh/TEST/2/e/LongFast/!10000000"

    /// Publishes all messages, a few at a time, so that some come during every command.
    private static func publish(port: UInt16, gate: Gate) async throws {
        let publisher = try TestPublisher(port: port)
        for number in 0..<messages {
            try publisher.publish(MadeEnvelope.bytes(from: 5, id: UInt32(number + 10)), to: topic)
            if number % 100 == 99 { await gate.pass() }
        }
        try publisher.drain()
    }

    /// Lets the publisher go on a bit whenever a command has ended, and freely at the end.
    private actor Gate {
        private var allowed = 3
        private var waiter: CheckedContinuation<Void, Never>?

        func allow(_ count: Int) {
            allowed += count
            waiter?.resume()
            waiter = nil
        }

        func pass() async {
            while allowed == 0 { await withCheckedContinuation { waiter = $0 } }
            allowed -= 1
        }
    }

    private struct Ended {
        var status: Int32
        var text: String
    }

    private func start(_ arguments: [String], _ folder: TemporaryFolder) throws -> (Process, URL) {
        let output = folder.file(UUID().uuidString)
        try Data().write(to: output)
        let handle = try FileHandle(forWritingTo: output)
        let process = try Process.start(
            BuiltProgram.url(), arguments,
            environment: ProcessInfo.commandEnvironment(ledger: folder.path + "/mesh.ledger", home: folder.path), output: handle,
            errors: handle)
        return (process, output)
    }

    private func run(_ arguments: [String], _ folder: TemporaryFolder) async throws -> Ended {
        let (process, output) = try start(arguments, folder)
        try await eventually(within: .seconds(1_200)) { !process.isRunning }
        return Ended(status: process.terminationStatus, text: try String(contentsOf: output, encoding: .utf8))
    }

    @Test func `nothing that a broker sends is lost or doubled while others import, add keys, rebuild, seal, compact and erase`()
        async throws
    {
        let folder = try TemporaryFolder()
        let broker = try TestBroker(in: folder)
        let path = folder.path + "/mesh.ledger"
        try await Ledger.create(at: path).close()
        let capture = folder.path + "/capture.base64"
        let made = try await run(
            ["simulate", "--nodes", "30", "--packets", "\(Self.imported)", "--bad", "0", "--to", capture, "--as", "envelopes"],
            folder)
        #expect(made.status == 0, "\(made.text)")
        let (listener, said) = try start(["ingest", "mqtt", broker.address("msh/#")], folder)
        defer { listener.kill() }
        let log = try EventLog.open(at: path, options: EventLogOptions(access: .readOnly))
        do {
            let publisher = try TestPublisher(port: broker.port)
            try await eventually(every: .milliseconds(100)) {
                try #require(listener.isRunning)
                if log.head != .zero { return true }
                try publisher.publish(MadeEnvelope.bytes(from: 4, id: 1), to: Self.topic)
                return false
            }
        }
        let mode = try FileManager.default.attributesOfItem(atPath: path + "/control.sock")[.posixPermissions] as? Int
        #expect(mode == 0o600)
        let gate = Gate()
        async let publishing: Void = Self.publish(port: broker.port, gate: gate)
        for command in [
            ["import", capture], ["keys", "add", "Harbour", "--psk", "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="], ["rebuild"],
            ["seal"], ["compact"], ["erase", "--sequence", "1", "--reason", "test", "--yes"], ["import", capture], ["compact"],
            ["keys", "remove", "Harbour"],
        ] {
            await gate.allow(3)
            let ended = try await run(command, folder)
            #expect(ended.status == 0, "\(command): \(ended.text)")
        }
        await gate.allow(Self.messages)
        try await publishing
        func ours() throws -> [Event] {
            try log.events(in: EventSequence(1)...log.head).filter { $0.header.encoding == .serviceEnvelope }
        }
        let published = (0..<Self.messages).map { MadeEnvelope.bytes(from: 5, id: UInt32($0 + 10)) }
        let wanted = Set(published)
        try await eventually(within: .seconds(1_200), every: .milliseconds(50)) {
            try #require(listener.isRunning)
            return try ours().count { wanted.contains($0.payload) } >= Self.messages
        }
        // In the order in which they were sent, each once.
        let found = try ours().map(\.payload).filter { wanted.contains($0) }
        #expect(found == published)
        let others = try ours().count(where: { !wanted.contains($0.payload) && $0.header.reception != .live })
        #expect(others == Self.imported)
        await log.close()
        kill(listener.processIdentifier, SIGINT)
        try await eventually { !listener.isRunning }
        let text = try String(contentsOf: said, encoding: .utf8)
        #expect(listener.terminationStatus == 0, "\(text)")
        let verified = try await run(["verify"], folder)
        #expect(verified.status == 0, "\(verified.text)")
        let digests = try await run(["view", "digest"], folder)
        let rebuilt = try await run(["rebuild"], folder)
        #expect(rebuilt.status == 0, "\(rebuilt.text)")
        #expect(try await run(["view", "digest"], folder).text == digests.text)
    }
}
