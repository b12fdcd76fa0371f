import LMDB
import ProtobufWire
import TestKit
import Testing

@testable import Projections

struct SeriesCaps {
    private struct Key: Hashable, Comparable {
        var prefix: UInt64
        var time: UInt32
        var sequence: UInt64

        static func < (left: Key, right: Key) -> Bool {
            (left.prefix, left.time, left.sequence) < (right.prefix, right.time, right.sequence)
        }
    }

    @Test func `values that wait count with their bytes, and no longer once they are dropped`() {
        var values = ValueChunks()
        for count in 1...3 {
            _ = values.append { $0.string(1, "four") }
            #expect(values.byteCount == 6 * count)
        }
        values.removeAll()
        #expect(values.byteCount == 0)
    }

    private func keys(_ store: ViewStore) throws -> [Key] {
        var keys: [Key] = []
        let transaction = try store.environment.beginRead()
        var cursor = try transaction.cursor(store.table("rows"))
        while try cursor.next() {
            let key = cursor.key
            keys.append(
                Key(
                    prefix: UInt64(key.bigEndianUInt32(at: 0)), time: key.bigEndianUInt32(at: 4),
                    sequence: key.bigEndianUInt64(at: 8)))
        }
        return keys
    }

    @Test func `M30 M31: the newest rows of each series stay, whatever the order of times and the flushes`() throws {
        for seed in UInt64(1)...30 {
            var random = SeededGenerator(seed: seed)
            let folder = try TemporaryFolder()
            let store = try openStore(folder.path + "/view", tables: ["rows", "counts"])
            var buffer = CappedSeries(rows: "rows", prefixLength: 4, cap: 20)
            var model: [Key] = []
            for sequence in UInt64(1)...1_500 {
                let key = Key(
                    prefix: UInt64.random(in: 0..<8, using: &random), time: UInt32.random(in: 0..<200, using: &random),
                    sequence: sequence)
                buffer.append(prefix: key.prefix, time: key.time, sequence: sequence) { $0.varint(1, sequence) }
                model.append(key)
                let series = model.filter { $0.prefix == key.prefix }
                if series.count > 20, let lowest = series.min() { model.removeAll { $0 == lowest } }
                if Int.random(in: 0..<60, using: &random) == 0 || sequence == 1_500 {
                    var transaction = try store.environment.beginWrite()
                    try buffer.write(to: &transaction, store)
                    try transaction.commit()
                    buffer.removeAll()
                    #expect(try keys(store) == model.sorted(), "seed \(seed), sequence \(sequence)")
                }
            }
        }
    }

    @Test func `M33: a reader that polls through a burst never sees more rows than the cap`() async throws {
        let folder = try TemporaryFolder()
        let store = try openStore(folder.path + "/view", tables: ["rows", "counts"])
        let writer = Task.detached {
            var buffer = CappedSeries(rows: "rows", prefixLength: 4, cap: 100)
            for sequence in UInt64(1)...5_000 {
                buffer.append(prefix: 1, time: UInt32(sequence), sequence: sequence) { $0.varint(1, sequence) }
                guard sequence % 50 == 0 else { continue }
                var transaction = try store.environment.beginWrite()
                try buffer.write(to: &transaction, store)
                try transaction.commit()
                buffer.removeAll()
            }
        }
        var polls = 0
        var most = 0
        while most < 100 || polls < 200 {
            most = max(most, try keys(store).count)
            #expect(most <= 100)
            polls += 1
            await Task.yield()
        }
        try await writer.value
        #expect(try keys(store).count == 100)
    }
}
