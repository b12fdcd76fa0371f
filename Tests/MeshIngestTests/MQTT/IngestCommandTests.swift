import EventLog
import Foundation
import MeshLedger
import TestKit
import Testing

@testable import MeshIngest

/// The built command against a real broker, as the README and the articles start it.
@Suite(.enabled(if: TestBroker.isInstalled, "needs mosquitto"), .serialized)
struct IngestCommandTests {
    /// The documents' line that listens to a broker, with this test's broker in the place of theirs.
    private func documentedCommand(_ broker: TestBroker) throws -> String {
        let lines = try Document.all().flatMap { $0.blocks(in: "sh") }.flatMap { $0.text.split(separator: "\n") }
            .filter { $0.hasPrefix("meshledger ingest mqtt") }
        try #require(Set(lines) == ["meshledger ingest mqtt mqtt://localhost"])
        return lines[0].replacingOccurrences(of: "mqtt://localhost", with: "mqtt://127.0.0.1:\(broker.port)")
    }

    @Test(.timeLimit(.minutes(40)), arguments: [SIGINT, SIGTERM, SIGHUP])
    func `M7 W9: a signal ends it with everything stored, the views flushed and status 0`(_ signal: Int32) async throws {
        let folder = try TemporaryFolder()
        let broker = try TestBroker(in: folder)
        let path = folder.path + "/mesh.ledger"
        try await Ledger.create(at: path).close()
        let programs = try BuiltProgram.url().deletingLastPathComponent().path
        let errors = Pipe.ofOneChild()
        let process = try Process.start(
            URL(fileURLWithPath: "/bin/bash"), ["-c", "exec " + documentedCommand(broker)],
            environment: ProcessInfo.commandEnvironment(ledger: path, home: folder.path).merging([
                "PATH": programs + ":/usr/bin:/bin"
            ]) { $1 }, errors: errors)
        defer { process.kill() }
        let log = try EventLog.open(at: path, options: EventLogOptions(access: .readOnly))
        let publisher = try TestPublisher(port: broker.port)
        let topic = "msh/TEST/2/e/LongFast/!10000000"
        try await publishUntilStored(publisher, process, log)
        let before = log.head.rawValue
        try publisher.publish([1, 2, 3], to: "msh/TEST/other")
        for number in 0..<2_000 { try publisher.publish(MadeEnvelope.bytes(from: 5, id: UInt32(number + 10)), to: topic) }
        try await eventually(within: .seconds(1_200)) { log.head.rawValue >= before + 2_000 }
        await log.close()
        kill(process.processIdentifier, signal)
        let text = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationReason == .exit && process.terminationStatus == 0, "\(text)")
        #expect(text.contains("views flushed") && text.contains(", 1 on topics of other programs"), "\(text)")

        let ledger = try await Ledger.open(at: path, options: LedgerOptions(access: .readOnly))
        let stored = ledger.log.head.rawValue
        #expect(stored >= before + 2_000)
        for view in try await ledger.maintenance.views() { #expect(view.checkpoint == stored, "\(view.name)") }
        try await ledger.close()
    }

    @Test(.timeLimit(.minutes(20)), arguments: [false, true])
    func `a ledger that is moved away ends it with one clear line, and nothing more is stored`(isReplaced: Bool) async throws {
        let folder = try TemporaryFolder()
        let broker = try TestBroker(in: folder)
        let path = folder.path + "/mesh.ledger"
        try await Ledger.create(at: path).close()
        let errors = Pipe.ofOneChild()
        let process = try Process.start(
            BuiltProgram.url(), ["ingest", "mqtt", broker.address("msh/#")],
            environment: ProcessInfo.commandEnvironment(ledger: path, home: folder.path), errors: errors)
        defer { process.kill() }
        let log = try EventLog.open(at: path, options: EventLogOptions(access: .readOnly))
        let publisher = try TestPublisher(port: broker.port)
        let topic = "msh/TEST/2/e/LongFast/!10000000"
        try await publishUntilStored(publisher, process, log)
        let before = log.head
        try publisher.publish([UInt8](repeating: 7, count: 70_000), to: topic)
        try await eventually { log.head != before || !process.isRunning }
        await log.close()
        try FileManager.default.moveItem(atPath: path, toPath: path + ".old")
        if isReplaced { try await Ledger.create(at: path).close() }
        var number: UInt32 = 0
        try await eventually(every: .milliseconds(50)) {
            try publisher.publish(MadeEnvelope.bytes(from: 5, id: number), to: topic)
            number += 1
            return !process.isRunning
        }
        let text = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationReason == .exit && process.terminationStatus == 74, "\(process.terminationStatus): \(text)")
        let lines = text.split(separator: "\n")
        #expect(lines.count { $0.contains("moved, removed or replaced") } == 1, "\(text)")
        #expect(lines.last?.contains("moved, removed or replaced") == true, "\(text)")
        let counts = try #require(text.firstMatch(of: /(\d+) of (\d+) messages stored, 1 too long/), "\(text)")
        #expect(try #require(Int(counts.1)) + 1 < #require(Int(counts.2)), "what was not stored was received: \(text)")
        guard isReplaced else { return #expect(!FileManager.default.fileExists(atPath: path)) }
        let other = try EventLog.open(at: path, options: EventLogOptions(access: .readOnly))
        #expect(other.head == .zero)
        await other.close()
    }

    /// What is published before the command listens is lost, as with any broker: a first message is repeated until it is stored.
    private func publishUntilStored(_ publisher: TestPublisher, _ process: Process, _ log: EventLog) async throws {
        try await eventually(every: .milliseconds(100)) {
            try #require(process.isRunning)
            if log.head != .zero { return true }
            try publisher.publish(MadeEnvelope.bytes(from: 4, id: 1), to: "msh/TEST/2/e/LongFast/!10000000")
            return false
        }
    }

    /// The password as the command's file, standard input or environment variable has it, and how the command is to end.
    @Test(
        arguments: [
            ("file", "secr et\nmore", "views flushed"), ("input", "secr et", "views flushed"),
            ("environment", "secr et", "views flushed"),
            ("file", "wrong", "wrong password"), ("environment", "", "wrong password"), ("file", "", "is empty"),
            ("missing", "", "does not exist"),
        ])
    func `the password comes from a file, standard input or the environment`(_ way: String, _ password: String, _ end: String)
        async throws
    {
        let folder = try TemporaryFolder()
        let broker = try TestBroker(user: "me", password: "secr et", in: folder)
        let path = folder.path + "/mesh.ledger"
        try await Ledger.create(at: path).close()
        let file = folder.file("password")
        if way != "missing" { try Data(password.utf8).write(to: file) }
        var arguments = ["ingest", "mqtt", broker.address("msh/#", user: "me")]
        if way != "environment" { arguments += ["--password-file", way == "input" ? "-" : file.path] }
        var environment = ProcessInfo.commandEnvironment(ledger: path, home: folder.path)
        if way == "environment" { environment["MESHLEDGER_MQTT_PASSWORD"] = password }
        let errors = Pipe.ofOneChild()
        let process = try Process.start(
            BuiltProgram.url(), arguments, environment: environment,
            input: way == "input" ? FileHandle(forReadingFrom: file) : FileHandle.nullDevice, errors: errors)
        defer { process.kill() }
        if end == "views flushed" {
            let log = try EventLog.open(at: path, options: EventLogOptions(access: .readOnly))
            let publisher = try TestPublisher(port: broker.port, user: "me", password: "secr et")
            try await publishUntilStored(publisher, process, log)
            await log.close()
            kill(process.processIdentifier, SIGTERM)
        }
        let text = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(text.contains(end) && !text.contains("secr"), "\(text)")
        #expect((process.terminationStatus == 0) == (end == "views flushed"))
    }
}
