import EventLog
import Foundation
import LMDB
import MeshLedger
import Meshtastic
import Projections
import TestKit
import Testing

/// What readers find while views are rebuilt after an erasure.
@Suite(.timeLimit(.minutes(40))) struct ErasedViewReaders {
    private func events(_ count: Int, from first: Int = 0, _ source: SourceID) -> [NewEvent] {
        (first..<first + count).map { number in
            var packet = MeshPacketBuilder(from: 5_000 + UInt32(number % 20), id: UInt32(number + 1), rxTime: 1_780_000_000)
            packet.payload = Array("text \(number)".utf8)
            return NewEvent(packet.envelope(), encoding: .serviceEnvelope, source: source)
        }
    }

    @Test func `until views are rebuilt after an erasure, readers get an error, and nothing of before`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/mesh.ledger"
        var ledger = try await Ledger.create(at: path)
        try await ledger.log.append(events(40, ledger.log.source(named: "radio")))
        try await ledger.catchUp()
        try await ledger.close()
        try FileManager.default.moveItem(atPath: path + "/views", toPath: path + "/aside")
        let before = try await Ledger.open(at: path, options: LedgerOptions(access: .readOnly))
        let unbuilt = #expect(throws: LedgerError.self) { try before.nodes() }
        #expect(unbuilt?.code == .notBuilt)
        try await before.close()

        ledger = try await Ledger.open(at: path)
        try await ledger.erasure.erase(.sequences([EventSequence(7)...EventSequence(9)]), reason: "asked for")
        try await ledger.catchUp()
        try await ledger.close()
        // As it is while they are being made, or when that was interrupted.
        for view in Ledger.viewNames { try FileManager.default.removeItem(atPath: "\(path)/views/\(view)/current") }
        let reader = try await Ledger.open(at: path, options: LedgerOptions(access: .readOnly))
        let error = #expect(throws: LedgerError.self) { try reader.nodes() }
        #expect(error?.code == .beingBuilt)
        #expect(error?.description.contains("being rebuilt without what was erased") == true, "\(String(describing: error))")
        try await reader.close()
    }

    @Test func `who waits for the views waits for those that come after an erasure, however many follow each other`() async throws
    {
        let ledger = try await Ledger.temporary()
        let source = try await ledger.log.source(named: "radio")
        try await ledger.log.append(events(4_000, source))
        try await ledger.catchUp()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for sequence in stride(from: 10 as UInt64, to: 200, by: 10) {
                    try await ledger.erasure.erase(
                        .sequences([EventSequence(sequence)...EventSequence(sequence)]), reason: "asked for")
                }
            }
            for _ in 0..<3 {
                group.addTask { for _ in 0..<20 { try await ledger.catchUp() } }
            }
            try await group.waitForAll()
        }
        try await ledger.catchUp()
        let statuses = try await ledger.maintenance.views()
        #expect(statuses.allSatisfy { $0.checkpoint == ledger.log.head.rawValue && !$0.holdsErased })
        try await ledger.close()
    }

    /// It has asked which store is served, and an erasure, or the views of other keys, come before it reads.
    @Test func `a reader whose view is superseded before it reads gets an error that says to ask again`() async throws {
        let ledger = try await Ledger.temporary()
        try await ledger.log.append(events(40, ledger.log.source(named: "radio")))
        try await ledger.catchUp()
        let erased = try ledger.store(of: "nodes")
        try await ledger.erasure.erase(.sequences([EventSequence(7)...EventSequence(9)]), reason: "asked for")
        try await ledger.catchUp()
        let closed = try ledger.store(of: "nodes")
        try await ledger.keys.change(.addChannels([ChannelKey(name: "Harbour", psk: [1, 2, 3])]))
        try await ledger.catchUp()
        for store in [erased, closed] {
            let error = #expect(throws: StorageError.self) { _ = try store.environment.beginRead() }
            #expect(error?.code == .superseded)
            #expect(LedgerError(try #require(error), path: "").code == .beingBuilt)
        }
        #expect(try ledger.nodes().count == 20)
        try await ledger.close()
        let last = #expect(throws: LedgerError.self) { try ledger.nodes() }
        #expect(last?.code == .closed || last?.code == .notBuilt, "\(String(describing: last))")
    }

    @Test func `a built-in view of another layout under its version is refused at each reading, and others are read`()
        async throws
    {
        let folder = try TemporaryFolder()
        let path = folder.path + "/mesh.ledger"
        let ledger = try await Ledger.create(at: path)
        try await ledger.log.append(events(40, ledger.log.source(named: "radio")))
        try await ledger.catchUp()
        let store = try ledger.store(of: "nodes")
        var schema = try #require(try store.schema())
        #expect(schema.layout.contains("snr"))
        schema.layout = schema.layout.replacing("snr", with: "snx")
        try store.note(schema)
        try await ledger.close()
        let reader = try await Ledger.open(at: path, options: LedgerOptions(access: .readOnly))
        for _ in 0..<2 {
            let error = #expect(throws: LedgerError.self) { try reader.nodes() }
            #expect(error?.code == .unversionedChange)
        }
        #expect(try reader.messages().count == 40)
        try await reader.close()
    }
}
