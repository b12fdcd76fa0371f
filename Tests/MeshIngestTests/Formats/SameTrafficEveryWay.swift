import EventLog
import Foundation
import MeshLedger
import ProtobufWire
import TestKit
import Testing

@testable import MeshIngest

/// One capture from a file, from standard input, its last lines again, and through a broker.
@Suite(.enabled(if: TestBroker.isInstalled, "needs mosquitto"), .timeLimit(.minutes(20)))
struct SameTrafficEveryWay {
    /// The views, and the columns that say by which events and through which sources rows came.
    private static let views = [
        "nodes", "channels", "gateways", "gateway_nodes", "positions", "telemetry", "messages", "waypoints", "traceroutes",
        "links",
        "mapreports", "sensors", "nodehistory", "hardware",
    ]
    private static let ofTheLog: Set<String> = ["sequence", "last_sequence", "sources"]
    /// The columns that say when, where nothing but an import does.
    private static let ofAnImport: Set<String> = ["time", "first_time", "first_heard", "last_heard", "samples"]
    /// The columns that count.
    private static let counts: Set<String> = [
        "packets", "receptions", "unreadable", "reports", "nodes", "own", "direct", "count",
    ]

    private let folder: TemporaryFolder
    private let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder.path + "/mesh.ledger"
    }

    private func start(_ arguments: [String], input: FileHandle = .nullDevice, output: Any = FileHandle.nullDevice) throws
        -> Process
    {
        try Process.start(
            BuiltProgram.url(), arguments, environment: ProcessInfo.commandEnvironment(ledger: path, home: folder.path),
            input: input, output: output)
    }

    @discardableResult
    private func run(_ arguments: String..., input: FileHandle = .nullDevice) throws -> String {
        let output = Pipe.ofOneChild()
        let process = try start(arguments, input: input, output: output)
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == 0, "\(arguments): \(text)")
        return text
    }

    private func rows(isOfCounts: Bool = false) throws -> [String: [String]] {
        var found: [String: [String]] = [:]
        for view in Self.views {
            let lines = try run("view", view, "--format", "jsonl").split(whereSeparator: \.isNewline)
            found[view] = try lines.map { line in
                var row = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
                for name in Self.ofTheLog { row[name] = nil }
                if row["is_time_of_import"] as? Bool == true || row["time_source"] as? String == "import" {
                    for name in Self.ofAnImport { row[name] = nil }
                }
                if isOfCounts { row = row.filter { Self.counts.contains($0.key) } }
                return String(decoding: try JSONSerialization.data(withJSONObject: row, options: .sortedKeys), as: UTF8.self)
            }.sorted()
        }
        return found
    }

    private func expectSame(_ once: [String: [String]], _ what: String, isOfCounts: Bool = false) throws {
        let now = try rows(isOfCounts: isOfCounts)
        for view in Self.views {
            let differences = Set(now[view] ?? []).symmetricDifference(once[view] ?? []).sorted().prefix(4).joined(
                separator: "\n")
            #expect(differences.isEmpty && now[view]?.count == once[view]?.count, "\(what), \(view): \(differences)")
        }
    }

    @Test
    func `what comes from a file, from standard input, in its last lines and through a broker is events, and rows as of once`()
        async throws
    {
        try run("init")
        let file = folder.file("capture.base64")
        try run(
            "simulate", "--seed", "8", "--nodes", "15", "--packets", "400", "--bad", "0", "--to", file.path, "--as", "envelopes")
        let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map(String.init)
        try run("import", file.path)
        let (once, counts) = (try rows(), try rows(isOfCounts: true))
        #expect(once["mapreports"]?.isEmpty == false, "packets without an id")
        #expect(once.count { !$0.value.isEmpty } > 10 && (once["positions"]?.count ?? 0) > 20)
        let again = try run("import", "-", input: try FileHandle(forReadingFrom: file))
        #expect(again.contains("\(lines.count) receptions were already there"), "\(again)")
        try expectSame(once, "standard input")
        let last = folder.file("last.base64")
        try Data(lines.suffix(100).map { $0 + "\n" }.joined().utf8).write(to: last)
        try run("import", last.path)
        try expectSame(once, "its last lines")
        try await publish(try lines.filter(Self.hasID).compactMap { Data(base64Encoded: $0).map(Array.init) })
        try expectSame(once, "a broker")
        // Of those without an id nobody knew when they were heard; the broker's arrival tells.
        try await publish(try lines.filter { try !Self.hasID($0) }.compactMap { Data(base64Encoded: $0).map(Array.init) })
        try expectSame(counts, "a broker, those without an id", isOfCounts: true)
        let log = try EventLog.open(at: path, options: EventLogOptions(access: .readOnly))
        #expect(log.head.rawValue >= UInt64(lines.count * 3 + 100), "each event is kept")
        await log.close()
    }

    private static func hasID(_ line: String) throws -> Bool {
        let envelope = Array(Data(base64Encoded: line) ?? Data())
        var reader = WireReader(envelope.rawSpan)
        while let field = try reader.next() {
            guard field.number == 1 else { continue }
            var packet = WireReader(reader.bytes(field))
            while let inner = try packet.next() { if inner.number == 6, inner.asUInt32 != 0 { return true } }
        }
        return false
    }

    /// Publishes all of them to a broker that the program listens to, and ends it when it has stored them.
    private func publish(_ messages: [[UInt8]]) async throws {
        let broker = try TestBroker(in: folder)
        let process = try start(["ingest", "mqtt", broker.address("msh/#")])
        defer { process.kill() }
        let log = try EventLog.open(at: path, options: EventLogOptions(access: .readOnly))
        let publisher = try TestPublisher(port: broker.port)
        let topic = "msh/TEST/2/e/LongFast/!10000000"
        let before = log.head
        // What is published before it listens is lost, as with any broker: the first message is repeated until it is heard.
        try await eventually(every: .milliseconds(100)) {
            if log.head != before || !process.isRunning { return true }
            try publisher.publish(messages[0], to: topic)
            return false
        }
        for message in messages { try publisher.publish(message, to: topic) }
        try await eventually(within: .seconds(1_200)) {
            log.head.rawValue > before.rawValue + UInt64(messages.count) || !process.isRunning
        }
        await log.close()
        kill(process.processIdentifier, SIGTERM)
        process.waitUntilExit()
        #expect(process.terminationReason == .exit && process.terminationStatus == 0)
    }
}
