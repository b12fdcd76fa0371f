import EventLog
import Foundation
import MeshLedger
import Meshtastic
import TestKit
import Testing

@testable import MeshCommands

/// What a listening command says of what it has received.
@Suite(.timeLimit(.minutes(20))) struct IngestCountsTests {
    @Test func `packets and nodes are counted while it listens, also where most views have nothing to commit`() async throws {
        let folder = try TemporaryFolder()
        let ledger = try await Ledger.create(at: folder.path + "/mesh.ledger")
        let counts = try await IngestCounts(ledger)
        #expect(try await counts.line() == "0 events, 0 packets, 0 nodes, 0 errors, lag 0")
        let source = try await ledger.log.source(named: "radio")
        let events = (0..<40).map { number in
            NewEvent(
                Array(Line.text("number \(number)", from: 5_000 + UInt32(number % 20), time: 1_780_000_000 + number).utf8),
                encoding: .mqttJSON,
                source: source)
        }
        try await ledger.log.append(events)
        var line = ""
        try await eventually(every: .milliseconds(50)) {
            line = try await counts.line()
            return line.hasSuffix("lag 0")
        }
        #expect(line == "40 events, 40 packets, 20 nodes, 0 errors, lag 0")
        try await ledger.close()
    }

    @Test func `a password in the address is hidden from those who list processes`() throws {
        let tool = try Tool()
        try tool.run("init")
        let running = try tool.start(["ingest", "mqtt", "mqtt://user:gr%C3%BCn:1@127.0.0.1:1/msh/@"])
        defer { running.process.terminate() }
        try running.wait(for: "trying again")
        let line = try String(contentsOfFile: "/proc/\(running.process.processIdentifier)/cmdline", encoding: .utf8)
        #expect(line.split(separator: "\0").last == "mqtt://user:xxxxxxxxxxx@127.0.0.1:1/msh/@", "\(line)")
    }
}
