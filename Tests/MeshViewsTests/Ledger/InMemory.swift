import EventLog
import Foundation
import MeshLedger
import Meshtastic
import Projections
import TestKit
import Testing
import ViewQuery

/// A ledger in memory does what one on a disk does, and leaves nothing.
@Suite(.serialized) struct InMemory {
    /// Everything that a ledger is asked and given, but what is about its place.
    private func life(_ ledger: Ledger) async throws -> [String] {
        var answers: [String] = []
        func note(_ what: String, hasDigests: Bool = true) throws {
            if hasDigests { answers += try Ledger.viewNames.map { "\(what) \($0) \(try ledger.maintenance.digest(of: $0))" } }
            answers.append(
                "\(what) \(try ledger.nodes().count) \(try ledger.messages().map(\.text)) \(try ledger.maintenance.quarantine().count)"
            )
        }
        let source = try await ledger.log.source(named: "test")
        let packets = RandomPackets().packets(600, seed: 71)
        _ = try await ledger.log.append(packets[..<400].map { $0.event(source) })
        try await ledger.catchUp()
        try note("folded")
        let node = try #require(try ledger.nodes(RowQuery(newestFirst: false)).first).number
        try await ledger.annotations.record(.favorite(node), .note(node, "x"))
        let archived = try #require(
            try await ledger.annotations.archive(rows: FetchDescriptor<PositionRow>(predicate: #Predicate { $0.node == node })))
        try note("annotated")
        try await ledger.annotations.revert(archived.events.lowerBound)
        try note("undone")
        try await ledger.keys.set(Keyring())
        try await ledger.catchUp()
        try note("without keys")
        try await ledger.keys.set(.standard)
        _ = try await ledger.log.append(packets[400...].map { $0.event(source) })
        try await ledger.catchUp()
        try await ledger.maintenance.rebuild()
        try note("rebuilt")
        let then = try ledger.asOf(.sequence(200))
        answers.append("then \(try then.nodes().count) \(try then.messages().count)")
        try await then.close()
        answers += try ledger.searchMessages("text", .allWords, RowQuery(limit: 9)).map { "\($0.score) \($0.row.text)" }
        _ = try await ledger.erasure.erase(.node(node), reason: "test")
        try await ledger.catchUp()
        // What is left in place of an erased record depends on a salt that is drawn at random.
        try note("erased", hasDigests: false)
        answers.append("\(ledger.log.head)")
        return answers
    }

    @Test
    func `K28 W2: all that a ledger does gives the same in memory as on a disk, and nothing is left of it when it is closed`()
        async throws
    {
        let folder = try TemporaryFolder()
        // One clock for both: the checksums of their records are part of the digests.
        let options = LedgerOptions(log: EventLogOptions(clock: { Timestamp(seconds: 1_790_000_000) }))
        let onDisk = try await Ledger.create(at: folder.path + "/mesh.ledger", options: options)
        let wanted = try await life(onDisk)
        try await onDisk.close()
        let temporary = try await Ledger.temporary(options: options)
        let path = temporary.path
        #expect(
            FileManager.default.fileExists(atPath: path)
                && (path.hasPrefix("/dev/shm") || !FileManager.default.isWritableFile(atPath: "/dev/shm")))
        let found = try await life(temporary)
        for (one, other) in zip(found, wanted) { #expect(one == other) }
        #expect(found.count == wanted.count && found.count > 40)
        try await temporary.close()
        #expect(!FileManager.default.fileExists(atPath: path))
    }
}
