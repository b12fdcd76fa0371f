import LMDB
import Projections
import ProtobufWire
import TestKit
import Testing

@testable import MeshLedger
@testable import MeshViews

/// Rows in memory against what is said of them: at most the cap, the earliest leaves, of equals the lowest key.
struct KeyedRowsModel {
    private struct Row: KeyedRow, Equatable {
        static let keyLength = 4
        var key: UInt64
        var time: UInt32
        var value: UInt32
        var storedSize: Int { 20 }
        func isOf(_ node: ErasedNode) -> Bool { key == UInt64(node.number) }

        init(key: UInt64, time: UInt32, value: UInt32) { (self.key, self.time, self.value) = (key, time, value) }

        func encode(to writer: inout WireWriter) {
            writer.uint32(1, time)
            writer.uint32(2, value)
        }

        init(key: UInt64, decoding bytes: RawSpan) throws(WireError) {
            (self.key, time, value) = (key, 0, 0)
            var reader = WireReader(bytes)
            while let field = try reader.next() {
                if field.number == 1 { time = field.asUInt32 }
                if field.number == 2 { value = field.asUInt32 }
            }
        }
    }

    private final class Store {
        let folder: TemporaryFolder
        let environment: Environment
        let table: RawTable

        init() throws {
            folder = try TemporaryFolder()
            environment = try Environment.open(folder.path + "/rows", EnvironmentOptions())
            table = try environment.table("rows")
        }

        func write(_ rows: KeyedRows<Row>) throws {
            var write = try environment.beginWrite()
            try rows.write(to: &write, table)
            try write.commit()
        }

        func load(cap: Int) throws -> KeyedRows<Row> {
            var rows = KeyedRows<Row>(cap: cap)
            let read = try environment.beginRead()
            try rows.load(read, table)
            return rows
        }
    }

    private func evict(_ model: inout [UInt64: Row], to cap: Int) {
        func isOlder(_ left: Row, _ right: Row) -> Bool { (left.time, left.key) < (right.time, right.key) }
        if model.count == cap + 1, let oldest = model.values.min(by: isOlder) {
            model[oldest.key] = nil
        } else if model.count > cap {
            for oldest in model.values.sorted(by: isOlder).prefix(model.count - cap) { model[oldest.key] = nil }
        }
    }

    private func sorted(_ rows: [Row]) -> [Row] { rows.sorted { $0.key < $1.key } }

    @Test(arguments: 1...12 as ClosedRange<UInt64>)
    func `rows in memory and in the file are those that a plain table keeps, whatever comes`(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        // Of many rows, only some are looked at to find those that go next.
        let scale = seed.isMultiple(of: 4) ? 300 : 1
        var cap = Int.random(in: 1...9, using: &generator) * scale
        let store = try Store()
        var rows = KeyedRows<Row>(cap: cap)
        var (model, written): ([UInt64: Row], [UInt64: Row]) = ([:], [:])
        for step in 0..<(scale == 1 ? 800 : 8_000) {
            let key = UInt64.random(in: 1...14 * UInt64(scale), using: &generator)
            let time = UInt32.random(in: 0...20 * UInt32(scale), using: &generator)
            switch Int.random(in: 0..<20, using: &generator) {
            case 0:
                try store.write(rows)
                rows.committed()
                written = model
                #expect(rows.pendingBytes == 0, "seed \(seed), step \(step)")
            case 1:
                if Int.random(in: 0..<4, using: &generator) == 0 { cap = Int.random(in: 1...9, using: &generator) * scale }
                rows = try store.load(cap: cap)
                model = written
                evict(&model, to: cap)
                written = try evicted(&rows, model, store)
            case 2:
                guard let place = rows.place(of: key) else { continue }
                rows.remove(place)
                model[key] = nil
            default:
                if let place = rows.place(of: key) {
                    #expect(rows[place] == model[key] && rows.read(place) { $0.value } == model[key]?.value)
                    // The time of a few falls, of most it rises or stays.
                    let next = Int.random(in: 0..<6, using: &generator) == 0 ? time : max(time, rows[place].time)
                    rows.update(place) { ($0.time, $0.value) = (next, UInt32(step)) }
                    model[key] = Row(key: key, time: next, value: UInt32(step))
                } else {
                    #expect(model[key] == nil, "seed \(seed), step \(step)")
                    let row = Row(key: key, time: time, value: UInt32(step))
                    rows.insert(row)
                    model[key] = row
                    evict(&model, to: cap)
                }
                #expect(rows.pendingBytes > 0)
            }
            guard step.isMultiple(of: scale / 4 + 1) else { continue }
            #expect(rows.count == model.count && sorted(rows.all) == sorted(Array(model.values)), "seed \(seed), step \(step)")
        }
        try store.write(rows)
        #expect(sorted(try store.load(cap: 100 * scale).all) == sorted(Array(model.values)), "seed \(seed)")
    }

    /// Writes what a smaller cap left, so that the file has it as well.
    private func evicted(_ rows: inout KeyedRows<Row>, _ model: [UInt64: Row], _ store: Store) throws -> [UInt64: Row] {
        try store.write(rows)
        rows.committed()
        return model
    }

    @Test func `what waits to be written counts each changed row once and each removed one`() {
        var rows = KeyedRows<Row>(cap: 2)
        #expect(rows.pendingBytes == 0)
        rows.insert(Row(key: 1, time: 1, value: 0))
        rows.insert(Row(key: 2, time: 2, value: 0))
        #expect(rows.pendingBytes == 40)
        if let place = rows.place(of: 2) { rows.update(place) { $0.value = 1 } }
        #expect(rows.pendingBytes == 40)
        rows.committed()
        rows.insert(Row(key: 3, time: 3, value: 0))
        #expect(rows.pendingBytes == 24 && rows.place(of: 1) == nil && rows.count == 2)
    }
}
