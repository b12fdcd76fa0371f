import LMDB
import Projections
import ProtobufWire
import TestKit
import Testing

@testable import MeshViews

/// Pending and stored messages against what is said of them: a thread has at most the cap, and the earliest row leaves, of equals the first event's.
struct MessageRowsModel {
    private static let cap = 6

    private struct Model {
        var rows: [UInt64: MessageRow] = [:]  // by event

        mutating func insert(_ row: MessageRow) {
            rows[row.sequence] = row
            let thread = rows.values.filter { $0.thread == row.thread }.sorted { $0.sortKey < $1.sortKey }
            for row in thread.dropLast(MessageRowsModel.cap) { rows[row.sequence] = nil }
        }

        var sorted: [MessageRow] { rows.values.sorted { $0.sortKey < $1.sortKey } }
    }

    private func store(in folder: borrowing TemporaryFolder) throws -> ViewStore {
        try ViewStore.open(
            at: folder.path + "/messages", recipe: Recipe(view: "messages", version: 1, policy: "", keyring: ""),
            tables: ["messages", "packets", "counts"], access: .readWrite)
    }

    private func stored(_ store: ViewStore) throws -> (rows: [MessageRow], packets: [[UInt8]: [UInt8]]) {
        let read = try store.environment.beginRead()
        var rows: [MessageRow] = []
        var packets: [[UInt8]: [UInt8]] = [:]
        var cursor = try read.cursor(store.table("messages"))
        while try cursor.next() {
            let row = MessageRow(key: cursor.key, value: cursor.value)
            rows.append(try #require(row))
        }
        cursor = try read.cursor(store.table("packets"))
        while try cursor.next() { packets[cursor.key.asArray] = cursor.value.asArray }
        return (rows, packets)
    }

    @Test(arguments: 1...16 as ClosedRange<UInt64>)
    func `messages in memory and in the file are those that a plain list keeps`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let folder = try TemporaryFolder()
        let store = try store(in: folder)
        defer { store.close() }
        var (pending, model) = (PendingMessages(cap: Self.cap), Model())
        try pending.load(store)
        var sequence: UInt64 = 0
        for _ in 0..<1_500 {
            sequence += 1
            let known = model.rows.values.filter { _ in UInt8.random(in: 0..<4, using: &generator) == 0 }.min {
                $0.sequence < $1.sequence
            }
            switch (Int.random(in: 0..<24, using: &generator), known) {
            case (0, _):
                try commit(&pending, store)
                let (rows, packets) = try stored(store)
                #expect((rows == model.sorted) as Bool, "seed \(seed), event \(sequence)")
                #expect(
                    packets == Dictionary(uniqueKeysWithValues: model.sorted.map { (packetKey($0), $0.key) }),
                    "seed \(seed), event \(sequence)")
            case (1...4, let row?):
                let isKnown = try pending.update(from: row.from, id: row.id, firstSequence: row.firstSequence, in: store) {
                    $0.receptions += 1
                }
                #expect(isKnown)
                model.rows[row.sequence]?.receptions += 1
            case (5...6, var row?):
                let removed = try pending.remove(from: row.from, id: row.id, firstSequence: row.firstSequence, in: store)
                #expect(removed == row, "seed \(seed), event \(sequence)")
                model.rows[row.sequence] = nil
                (row.time, row.sequence) = (UInt32.random(in: 0...40, using: &generator), sequence)  // superseded
                try pending.insert(row, in: store)
                model.insert(row)
            default:
                var row = MessageRow(
                    thread: .channel(UInt32.random(in: 0...2, using: &generator)), time: .random(in: 0...40, using: &generator),
                    sequence: sequence)
                (row.firstSequence, row.from, row.id) = (
                    sequence, .random(in: 1...3, using: &generator), .random(in: 0...5, using: &generator)
                )
                row.text = "message \(sequence)"
                try pending.insert(row, in: store)
                model.insert(row)
                #expect(pending.pendingBytes > row.text.utf8.count, "what waits is committed where it takes too much memory")
            }
        }
        try commit(&pending, store)
        #expect((try stored(store).rows == model.sorted) as Bool, "seed \(seed)")
    }

    private func packetKey(_ row: MessageRow) -> [UInt8] {
        MessageRow.packetKey(from: row.from, id: row.id, firstSequence: row.firstSequence)
    }

    private func commit(_ pending: inout PendingMessages, _ store: ViewStore) throws {
        var transaction = try store.environment.beginWrite()
        try pending.write(to: &transaction, store: store)
        try transaction.commit()
        pending.committed()
        #expect(pending.pendingBytes == 0)
    }

    @Test func `a message's key is read as the order in which it was written`() {
        var generator = SeededGenerator(seed: 3)
        let nodes: [UInt32] = [1, 0x8000_0001, 0x1234_5678, .max - 1]
        for from in nodes {
            for to in nodes {
                var row = MessageRow(
                    thread: MessageThread(between: from, and: to), time: .random(in: 0...UInt32.max, using: &generator),
                    sequence: .random(in: 0...UInt64.max, using: &generator))
                row.from = from
                let key = row.key
                let read = MessageRow.sortKey(of: key.rawSpan)
                #expect(read.map { $0 == row.sortKey } == true)
            }
        }
    }
}
