import EventLog
import Foundation
import MeshViews
import Meshtastic
import ProtobufWire
import TestKit
import Testing

/// A process that appends from eight tasks is killed at random moments. `MESHLEDGER_KILLS` says how often; `Tools/kill9` sets it.
struct KilledWriters {
    private static let kills = Int(ProcessInfo.processInfo.environment["MESHLEDGER_KILLS"] ?? "") ?? 12

    /// Runs the child for some milliseconds, from its start or from its first append that returned, and returns what it had printed when it
    /// was killed.
    private func kill(_ path: String, start: Int, after milliseconds: UInt32, isUnderWay: Bool) throws -> [Substring] {
        let child = Process()
        child.executableURL = try BuiltProgram.url("crashchild")
        child.arguments = [path, String(start)]
        let output = Pipe()
        child.standardOutput = output
        try child.run()
        let reader = output.fileHandleForReading
        // On a busy machine a delay from the start alone might never let an append return.
        let begin = isUnderWay ? reader.availableData : Data()
        let killer = Thread {
            usleep(milliseconds * 1_000)
            Foundation.kill(child.processIdentifier, SIGKILL)
        }
        killer.start()
        let text = String(decoding: begin + reader.readDataToEndOfFile(), as: UTF8.self)
        child.waitUntilExit()
        var lines = text.split(separator: "\n", omittingEmptySubsequences: true)
        if !text.hasSuffix("\n") { lines = lines.dropLast() }
        return lines
    }

    /// A ledger with old events that the killed processes are sealing.
    private func makeLedger(_ path: String) async throws {
        var options = LedgerOptions()
        options.log.sealing.isAutomatic = false
        let ledger = try await Ledger.create(at: path, options: options)
        let source = try await ledger.log.source(named: "before")
        var builder = MeshPacketBuilder()
        try await ledger.log.append(
            (UInt32(1)...12_000).map { number in
                builder.id = number
                builder.payload = Array("number \(number)".utf8)
                return builder.event(source)
            })
        try await ledger.close()
    }

    @Test func `every append that returned is in the log, without gaps, and the views equal a full fold`() async throws {
        let seed = UInt64(ProcessInfo.processInfo.environment["MESHLEDGER_SEED"] ?? "") ?? 7
        var random = SeededGenerator(seed: seed)
        let folder = try TemporaryFolder()
        let path = folder.path + "/mesh.ledger"
        try await makeLedger(path)
        var acknowledged: [UInt64: (task: UInt32, number: UInt32)] = [:]
        for kill in 0..<Self.kills {
            let delay = UInt32.random(in: 5...120, using: &random)
            for line in try self.kill(path, start: kill * 100_000, after: delay, isUnderWay: kill.isMultiple(of: 2)) {
                let numbers = line.split(separator: " ").compactMap { UInt64($0) }
                try #require(numbers.count == 3)
                acknowledged[numbers[0]] = (UInt32(numbers[1]), UInt32(numbers[2]))
            }
        }
        #expect(!acknowledged.isEmpty)
        let ledger = try await Ledger.open(at: path)
        var next: UInt64 = 1
        var found = 0
        try ledger.log.withEvents(from: EventSequence(1)) { header, payload in
            #expect(header.sequence.rawValue == next, "seed \(seed)")
            next += 1
            guard let wanted = acknowledged[header.sequence.rawValue] else { return true }
            var batch = PacketBatch()
            PacketOpener(keyring: Keyring()).decode(payload, form: .serviceEnvelope, into: &batch)
            let packet = batch.packets[0]
            #expect(packet.from == 0x1000 + wanted.task && packet.id == wanted.number + 1, "seed \(seed)")
            found += 1
            return true
        }
        #expect(found == acknowledged.count, "seed \(seed)")
        #expect(try ledger.log.sealingStatistics().sealedEvents > 0, "of \(ledger.log.head)")
        #expect(try ledger.log.verify().isIntact, "seed \(seed)")
        try await ledger.catchUp()
        let views = ["nodes", "positions", "telemetry", "messages"]
        let digests = try views.map { try ledger.digest(of: $0) }
        try await ledger.close()
        try FileManager.default.removeItem(atPath: path + "/views")
        let again = try await Ledger.open(at: path)
        try await again.catchUp()
        #expect(try views.map { try again.digest(of: $0) } == digests, "seed \(seed)")
        try await again.close()
    }
}
