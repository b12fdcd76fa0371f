import EventLog
import Foundation
import MeshLedger
import Meshtastic
import TestKit
import Testing
import ViewQuery

/// What was sent to all on a channel, wherever messages are asked for by channel.
struct MessagesOfChannels {
    private static let channel = RowQuery(channel: "LongFast")

    private static func ledger() async throws -> Ledger {
        let ledger = try await Ledger.temporary()
        let source = try await ledger.log.source(named: "test")
        let packets = [
            MeshPacketBuilder(from: 7, id: 1, rxTime: 1_780_000_001, payload: Array("the pump is on".utf8)),
            MeshPacketBuilder(from: 7, to: 8, id: 2, rxTime: 1_780_000_002, payload: Array("the pump, for you".utf8)),
            MeshPacketBuilder(from: 8, id: 3, rxTime: 1_780_000_003, payload: Array("which pump".utf8)),
        ]
        _ = try await ledger.log.append(packets.map { $0.event(source) })
        try await ledger.catchUp()
        return ledger
    }

    @Test func `searches and timelines of a channel have no direct messages, like its list`() async throws {
        let ledger = try await Self.ledger()
        #expect(try ledger.messages(Self.channel).map(\.id) == [3, 1])
        #expect(try Set(ledger.searchMessages("pump", .allWords, Self.channel).map(\.row.id)) == [1, 3])
        #expect(try ledger.searchMessages("pump", .allWords, of: 7, Self.channel).map(\.row.id) == [1])
        #expect(try ledger.messages(with: TextPattern("pump"), Self.channel).map(\.id) == [3, 1])
        #expect(try ledger.messages(with: TextPattern("pump"), of: 8, Self.channel).map(\.id) == [3])
        #expect(try messages(ledger.timeline(of: 7, Self.channel)) == [1])
        #expect(try messages(ledger.timeline(of: 7)) == [2, 1])
        #expect(try Set(ledger.searchMessages("pump").map(\.row.id)) == [1, 2, 3])
        try await ledger.close()
    }

    @Test func `a timeline has archived and read messages as its query says`() async throws {
        let ledger = try await Self.ledger()
        var some = FetchDescriptor<MessageRow>(predicate: #Predicate { $0.id == 1 })
        some.propertiesToFetch = [\.text]
        #expect(try await ledger.annotations.archive(some)?.count == 1)
        try await ledger.catchUp()
        #expect(try messages(ledger.timeline(of: 7)) == [2])
        var query = RowQuery()
        query.includesArchived = true
        #expect(try messages(ledger.timeline(of: 7, query)) == [2, 1])
        query.isRead = true
        #expect(try messages(ledger.timeline(of: 7, query)) == [])
        query.isRead = false
        query.limit = 1
        #expect(try messages(ledger.timeline(of: 7, query)) == [2])
        try await ledger.close()
    }

    @Test func `limits of zero and less end at once`() async throws {
        let ledger = try await Self.ledger()
        #expect(try ledger.sequences(of: EventSelection(node: 7), limit: -1) == [])
        let consumer = try ledger.changes.consumer(named: "mirror", of: "messages")
        #expect(try consumer.available(limit: 0).changes.count == 1)
        try await ledger.close()
    }

    private func messages(_ rows: [any ViewRow]) -> [UInt32] { rows.compactMap { ($0 as? MessageRow)?.id } }
}
