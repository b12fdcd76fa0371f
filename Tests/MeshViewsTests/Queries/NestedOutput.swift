import EventLog
import Foundation
import MeshLedger
import TestKit
import Testing

/// Rows with their related rows, as they are written and read back.
@Suite(.timeLimit(.minutes(40))) struct NestedOutput {
    @Test func `G24: nested rows that are written as JSON are read back the same, whatever their depths`() async throws {
        let ledger = try await Asking.ledger()
        let (encoder, decoder) = (JSONEncoder(), JSONDecoder())
        for depths in [[.ids], [.fragments], [.rows], [.rows, .rows], [.rows, .fragments, .ids]] as [[ExpansionDepth]] {
            let rows =
                try ledger.expand(FetchDescriptor<NodeRow>(fetchLimit: 8), depths, newest: 3)
                + ledger.expand(FetchDescriptor<MessageRow>(fetchLimit: 8), depths, newest: 3)
            let back = try decoder.decode([ExpandedRow].self, from: encoder.encode(rows))
            for (one, other) in zip(back, rows) {
                #expect(one.json == other.json)
                #expect(one == other && one.relations == other.relations)
            }
            #expect(back.count == 16 && rows.count == 16)
        }
        try await ledger.close()
    }

    @Test func `G24: rows that are written as JSON are read back the same`() async throws {
        let ledger = try await Asking.ledger()
        let (encoder, decoder) = (JSONEncoder(), JSONDecoder())
        let messages = try ledger.fetch(FetchDescriptor<MessageRow>())
        #expect(try decoder.decode([MessageRow].self, from: encoder.encode(messages)) == messages && messages.count > 20)
        let positions = try ledger.fetch(FetchDescriptor<PositionRow>())
        #expect(try decoder.decode([PositionRow].self, from: encoder.encode(positions)) == positions)
        encoder.outputFormatting = .sortedKeys
        func text(_ thread: MessageThread) throws -> String { String(decoding: try encoder.encode(thread), as: UTF8.self) }
        #expect(try text(.channel(3)) == #"{"channel":3}"# && text(.direct(1, 2)) == #"{"direct":[1,2]}"#)
        #expect(try decoder.decode(MessageThread.self, from: Data(#"{"direct":[2,1]}"#.utf8)) == .direct(1, 2))
        for damaged in [#"{"direct":[1]}"#, #"{"direct":[1,2,3]}"#, "{}", #"{"channel":-1}"#] {
            #expect(throws: DecodingError.self) { try decoder.decode(MessageThread.self, from: Data(damaged.utf8)) }
        }
        try await ledger.close()
    }

    /// Receptions of two packets of one id, more than an hour apart, in any order.
    private static func heard(_ order: [Int]) async throws -> [String: [String]] {
        let ledger = try await Ledger.temporary()
        let source = try await ledger.log.source(named: "test")
        for part in [0, 1] {
            for number in order {
                var packet = MeshPacketBuilder(
                    id: 77, rxTime: 1_780_000_000 + UInt32(part) * 9_000, payload: Array("part \(part)".utf8))
                packet.gateway = "!0000000\(number + 1)"
                packet.snr = Float(number) - 3.5 + Float(part)
                _ = try await ledger.log.append(packet.event(source))
            }
        }
        try await ledger.catchUp()
        let rows = try ledger.expand(FetchDescriptor<MessageRow>(sortBy: [SortDescriptor(\.time)]), [.rows, .rows])
        let texts = rows.map { row in row.values.first { $0.name == "text" }?.json ?? "" }
        let gateways = rows.map { row in
            row.relations.first { $0.name == "heardBy" }?.rows.map { heard in
                heard.values.filter { ["gateway", "snr"].contains($0.name) }.map(\.json).joined(separator: " ")
            } ?? []
        }
        try await ledger.close()
        return Dictionary(uniqueKeysWithValues: zip(texts, gateways))
    }

    @Test func `G20: a packet leads to its own receptions, in whatever order they came`() async throws {
        let first = ["1 -3.5", "2 -2.5", "3 -1.5", "4 -0.5"]
        let second = ["1 -2.5", "2 -1.5", "3 -0.5", "4 0.5"]
        for order in [[0, 1, 2, 3], [3, 1, 0, 2], [2, 3, 1, 0]] {
            let heard = try await Self.heard(order)
            #expect(heard == [#""part 0""#: order.map { first[$0] }, #""part 1""#: order.map { second[$0] }])
        }
    }
}
