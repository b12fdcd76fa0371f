import EventLog
import Foundation
import Meshtastic
import TestKit
import Testing

@testable import MeshLedger

/// Rows of dropped events in copies of a ledger: an erasure reaches them by what its event records.
struct ErasedCopies {
    private typealias Packet = MeshPacketBuilder
    private static let start: UInt32 = 1_780_000_000

    /// A ledger in a folder, with messages of two nodes of which retention has dropped some.
    private struct Original {
        let folder: TemporaryFolder
        let ledger: Ledger
        let source: SourceID

        init(dropping: Bool = true) async throws {
            folder = try TemporaryFolder()
            ledger = try await Ledger.create(at: folder.path + "/ledger")
            source = try await ledger.log.source(named: "test")
            let packets = [UInt32(1_001), 1_002].flatMap { node in
                (0..<200).map { Packet(from: node, id: 7 + $0, rxTime: ErasedCopies.start + $0, payload: Array("hello".utf8)) }
            }
            _ = try await ledger.log.append(packets.map { [source] in $0.event(source) })
            try await ledger.catchUp()
            if dropping { try await ledger.retention.retain(through: EventSequence(256)) }
        }

        func backup() throws {
            try ledger.log.backup(to: folder.path + "/backup", options: BackupOptions(includesSigningKey: true))
        }

        func restored(_ name: String, erasures: [Erasure] = []) async throws -> Ledger {
            _ = try await EventLog.restore(folder.path + "/backup", to: folder.path + "/" + name, erasures: erasures) {
                (log, erasures) async throws(EventLogError) in try await Ledger.Erasures.apply(erasures, to: log)
            }
            let copy = try await Ledger.open(at: folder.path + "/" + name)
            try await copy.catchUp()
            return copy
        }

        func record() throws -> String {
            let file = folder.path + "/recording"
            try ledger.log.record(to: file)
            return file
        }
    }

    private static func senders(_ ledger: Ledger) throws -> [UInt32: Int] {
        Dictionary(grouping: try ledger.messages(), by: \.from).mapValues(\.count)
    }

    @Test func `an erasure of dropped events only is recorded, and verified`() async throws {
        let original = try await Original()
        let ledger = original.ledger
        let report = try await ledger.erasure.erase(.packet(id: 7, from: 1_001), reason: "asked for")
        let erasures = try ledger.log.erasures()
        #expect(report.erased == 0 && report.events == erasures.map(\.sequence))
        #expect(erasures.map(\.ranges) == [[]] && erasures.map(\.request) == ["packet 7 from !000003e9"])
        #expect(try ledger.log.retention()?.event == report.events.last?.advanced(by: 1))
        #expect(try ledger.log.verify().problems == [] && Ledger.Maintenance.problemsOfBaselines(ledger.log) == [])
        try await ledger.catchUp()
        #expect(try Self.senders(ledger) == [1_001: 199, 1_002: 200])
        #expect(try await ledger.erasure.erase(.packet(id: 7, from: 1_001), reason: "again").events == [])
        try await ledger.close()
    }

    @Test func `rows of dropped events that were erased since the backup are erased in a restored ledger, too`() async throws {
        let original = try await Original()
        try original.backup()
        try await original.ledger.erasure.erase(.node(1_001), reason: "asked for")
        try await original.ledger.erasure.erase(.packet(id: 8, from: 1_002), reason: "asked for")
        let unaware = try await original.restored("unaware")
        #expect(try Self.senders(unaware) == [1_001: 200, 1_002: 200])
        try await unaware.close()
        let erasures = try original.ledger.log.erasures()
        let copy = try await original.restored("copy", erasures: erasures)
        try await original.ledger.catchUp()
        #expect(try Self.senders(copy) == [1_002: 199] && Self.senders(original.ledger) == [1_002: 199])
        #expect(try copy.log.erasures().map(\.request) == erasures.map(\.request))
        #expect(try copy.log.verify().problems == [] && Ledger.Maintenance.problemsOfBaselines(copy.log) == [])
        try await copy.maintenance.rebuild()
        #expect(try Self.senders(copy) == [1_002: 199])
        try await copy.close()
        try await original.ledger.close()
    }

    @Test func `events that the other copy had dropped before it erased their node are erased in a restored ledger`() async throws
    {
        let original = try await Original(dropping: false)
        try original.backup()
        try await original.ledger.retention.retain(through: EventSequence(256))
        try await original.ledger.erasure.erase(.node(1_001), reason: "asked for")
        let copy = try await original.restored("copy", erasures: original.ledger.log.erasures())
        #expect(copy.log.first == EventSequence(1))
        #expect(try Self.senders(copy) == [1_002: 200] && copy.erasure.erasable(.node(1_001)).isEmpty)
        try await copy.close()
        try await original.ledger.close()
    }

    @Test func `an exact copy follows the erasures of dropped rows in a later recording`() async throws {
        let original = try await Original()
        try original.backup()
        let copy = try await original.restored("copy")
        for selection in [ErasureSelection.node(1_001), .packet(id: 8, from: 1_002)] {
            try await original.ledger.erasure.erase(selection, reason: "asked for")
        }
        let file = try original.record()
        #expect(try await copy.importing { (log) async throws(EventLogError) in try await log.importRecording(file) }.isExact)
        try await copy.catchUp()
        #expect(try Self.senders(copy) == [1_002: 199])
        #expect(try copy.log.retention()?.event == original.ledger.log.retention()?.event)
        #expect(try copy.log.verify().problems == [] && Ledger.Maintenance.problemsOfBaselines(copy.log) == [])
        try await copy.maintenance.rebuild()
        #expect(try Self.senders(copy) == [1_002: 199])
        try await copy.close()
        try await original.ledger.close()
    }

    @Test func `an exact copy erases what the original had dropped before, stays one, and is verified and backed up without it`()
        async throws
    {
        let original = try await Original(dropping: false)
        try original.backup()
        let copy = try await original.restored("copy")
        let saved = copy.path + "-backup"
        try copy.log.backup(to: saved, options: BackupOptions(includesSigningKey: true))
        try await original.ledger.retention.retain(through: EventSequence(256))
        try await original.ledger.erasure.erase(.node(1_001), reason: "asked for")
        for name in ["more", "and more"] {
            let file = try original.record()
            let report = try await copy.importing { (log) async throws(EventLogError) in try await log.importRecording(file) }
            #expect(report.isExact)
            try await copy.catchUp()
            #expect(try Self.senders(copy) == [1_002: 200] && copy.erasure.erasable(.node(1_001)).isEmpty)
            #expect(try copy.log.root(size: copy.log.head) == original.ledger.log.root(size: copy.log.head))
            #expect(try copy.log.verify().problems == [])
            _ = try await original.ledger.log.append(NewEvent(Array(name.utf8), encoding: .note, source: original.source))
        }
        try copy.log.backup(to: saved, options: BackupOptions(includesSigningKey: true))
        try await copy.close()
        _ = try await EventLog.restore(saved, to: copy.path + "-again")
        let restored = try EventLog.open(at: copy.path + "-again")
        #expect(try restored.verify().problems == [])
        await restored.close()
        try await original.ledger.close()
    }

    @Test func `an import that ends before the rest is erased is finished when the copy is opened`() async throws {
        let original = try await Original(dropping: false)
        try original.backup()
        var copy = try await original.restored("copy")
        try await copy.close()
        try await original.ledger.retention.retain(through: EventSequence(256))
        try await original.ledger.erasure.erase(.node(1_001), reason: "asked for")
        let log = try EventLog.open(at: copy.path)
        #expect(try await log.importRecording(original.record()).isExact)
        await log.close()
        copy = try await Ledger.open(at: copy.path)
        try await copy.catchUp()
        #expect(try Self.senders(copy) == [1_002: 200] && copy.log.impliedErasures().sequences.count == 1)
        #expect(try copy.log.verify().problems == [])
        try await copy.close()
        try await original.ledger.close()
    }

    @Test func `where a request is hidden, an exact copy loses the rows of dropped events, and no file has them`() async throws {
        let original = try await Original()
        try original.backup()
        let copy = try await original.restored("copy")
        let selection = ErasureSelection.node(1_001)
        try await original.ledger.erasure.erase(selection, reason: "asked for", request: selection.hidden(salt: "salt"))
        let file = try original.record()
        _ = try await copy.importing { (log) async throws(EventLogError) in try await log.importRecording(file) }
        try await copy.catchUp()
        #expect(try Self.senders(copy) == [1_002: 144])
        #expect(!FileManager.default.fileExists(atPath: copy.path + "/baselines/256"))
        // As the warning says.
        let files = FileManager.default
        try files.copyItem(atPath: original.ledger.path + "/baselines/256", toPath: copy.path + "/baselines/256")
        try await copy.maintenance.rebuild()
        #expect(try Self.senders(copy) == [1_002: 200])
        try await copy.close()
        try await original.ledger.close()
    }

    @Test func `of a copy with a damaged baseline, only that view loses its rows of dropped events`() async throws {
        let original = try await Original()
        try original.backup()
        var copy = try await original.restored("copy")
        try await original.ledger.erasure.erase(.node(1_001), reason: "asked for")
        let file = try original.record()
        let damaged = copy.path + "/baselines/256/messages/data.mdb"
        let bytes = try #require(FileManager.default.contents(atPath: damaged))
        try bytes.dropLast(1).write(to: URL(fileURLWithPath: damaged))
        let refused = await #expect(throws: LedgerError.self) {
            _ = try await copy.importing { (log) async throws(EventLogError) in try await log.importRecording(file) }
        }
        #expect(refused?.isOfBaseline(in: copy.path) == true)
        try await copy.close()
        copy = try await Ledger.open(at: copy.path)
        try await copy.catchUp()
        #expect(try Self.senders(copy) == [1_002: 144])
        let node = try #require(try copy.node(1_002))
        #expect(try node.packets == 200 && copy.node(1_001) == nil)
        try await copy.close()
        try await original.ledger.close()
    }

    @Test(arguments: [ErasureSelection.node(7), .node(7, mentions: true), .packet(id: 7), .packet(id: 7, from: 8)])
    func `a request in a log is read back`(_ selection: ErasureSelection) {
        #expect(ErasureSelection(request: selection.description) == selection)
        #expect(ErasureSelection(request: selection.description + " ") == nil)
        #expect(ErasureSelection(request: selection.hidden(salt: "a")) == nil)
    }

    @Test(arguments: [
        "", "node", "node 7", "node !7", "packet", "packet x", "packet 7 from", "packet 7 of !00000008", "sequences",
    ])
    func `other words than those of a selection are not read as one`(_ request: String) {
        #expect(ErasureSelection(request: request) == nil)
    }
}
