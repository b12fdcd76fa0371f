import Foundation
import LMDB
import Projections
import ProtobufWire
import Synchronization
import TestKit
import Testing
import ViewQuery

/// What is read of a table of a million rows, a tenth of them in debug.
@Suite(.serialized, .timeLimit(.minutes(40))) struct MillionRows {
    private static let count = UInt32(Scale.of(1_000_000, 100_000))
    private static let folder = Mutex<TemporaryFolder?>(nil)

    /// A row that notes that it was decoded, and on which pages of the file it lies.
    private struct Mark: KeptRow, Equatable {
        static let decoded = Mutex(0)
        static let pages = Mutex<Set<UInt>>([])

        var number: UInt32
        var group: UInt32
        var weight: UInt64

        static let view = "marks"
        static let table = "marks"
        static let columns: [RowColumn<Mark>] = [
            RowColumn(key: "number", \.number) { $0.number }, RowColumn("group", \.group) { $0.group },
            RowColumn("weight", \.weight) { $0.weight },
        ]
        static let indexes: [RowIndex<Mark>] = [.index(\.group)]

        init(_ number: UInt32) {
            self.number = number
            // Each group has a thousand rows, all over the table.
            group = number % (MillionRows.count / 1_000)
            weight = UInt64(number) * 7_919
        }

        init?(key: RawSpan, value: RawSpan) {
            guard key.byteCount == 4, value.byteCount == 12 else { return nil }
            Self.decoded.withLock { $0 += 1 }
            let page = unsafe key.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) / 4_096 }
            Self.pages.withLock { _ = $0.insert(page) }
            number = key.bigEndianUInt32(at: 0)
            group = value.bigEndianUInt32(at: 0)
            weight = value.bigEndianUInt64(at: 4)
        }

        var key: [UInt8] { bigEndian(number) }
        var value: [UInt8] { bigEndian(group) + bigEndian(weight) }
    }

    private static func store() throws -> ViewStore {
        let folder = try Self.folder.withLock { known in
            let folder = try known ?? TemporaryFolder()
            known = folder
            return folder
        }
        let store = try ViewStore.open(
            at: folder.path + "/marks", recipe: Recipe(view: "marks", version: 1, policy: "", keyring: ""), tables: [Mark.table],
            indexes: Mark.indexedTables, access: .readWrite)
        guard try store.environment.beginRead().count(store.table(Mark.table)) == 0 else { return store }
        let table = try store.table(Mark.table)
        var transaction = try store.environment.beginWrite()
        for number in 0..<count {
            let row = Mark(number)
            try transaction.put(table, key: row.key.rawSpan, value: row.value.rawSpan, .append)
        }
        try transaction.commit()
        try store.buildMissingIndexes()
        return store
    }

    private static func counting<Result>(_ body: () throws -> Result) rethrows -> (result: Result, rows: Int, pages: Int) {
        Mark.decoded.withLock { $0 = 0 }
        Mark.pages.withLock { $0 = [] }
        let result = try body()
        return (result, Mark.decoded.withLock { $0 }, Mark.pages.withLock { $0.count })
    }

    @Test func `K18: fifty of a million rows lie on two pages at most, wherever they begin, and pages by cursor are the whole`()
        throws
    {
        let store = try Self.store()
        defer { store.close() }
        for start in [0, Self.count / 2, Self.count - 50] {
            let range = FetchDescriptor<Mark>(predicate: #Predicate { $0.number >= start }, fetchLimit: 50)
            let first = try Self.counting { try QueryRun(range).rows(in: store) }
            #expect(
                first.result.map(\.number) == Array(start..<start + 50) && first.rows == 50 && first.pages <= 2, "\(first.pages)")
        }
        let newest = FetchDescriptor<Mark>(sortBy: [SortDescriptor(\.number, order: .reverse)], fetchLimit: 50)
        let last = try Self.counting { try QueryRun(newest).rows(in: store) }
        #expect(last.result.map(\.number) == (Self.count - 50..<Self.count).reversed() && last.pages <= 2)
        var page = FetchDescriptor<Mark>(fetchLimit: 20_000)
        var found: UInt32 = 0
        repeat {
            let next = try QueryRun(page).page(in: store)
            #expect(next.total == Int(Self.count))
            for row in next.rows {
                guard row.number == found else { return #expect(row.number == found, "a row is missing or comes twice") }
                found += 1
            }
            page.after = next.next
        } while page.after != nil
        #expect(found == Self.count)
    }

    @Test func `K22: a million rows are counted by key and by index without decoding one`() throws {
        let store = try Self.store()
        defer { store.close() }
        let (half, groups) = (Self.count / 2, Self.count / 2_000)
        let queries: [(FetchDescriptor<Mark>, Int)] = [
            (FetchDescriptor(), Int(Self.count)), (FetchDescriptor(predicate: #Predicate { $0.number >= half }), Int(half)),
            (FetchDescriptor(predicate: #Predicate { $0.group < groups }), Int(groups) * 1_000),
            (FetchDescriptor(predicate: #Predicate { $0.group == 17 }), 1_000),
        ]
        for (query, wanted) in queries {
            let counted = try Self.counting { try QueryRun(query).count(in: store) }
            #expect(counted.result == wanted && counted.rows == 0)
        }
    }

    @Test func `S9: of a million rows a query of a thousand decodes a thousand`() throws {
        let store = try Self.store()
        defer { store.close() }
        let query = FetchDescriptor<Mark>(predicate: #Predicate { $0.group == 17 })
        let found = try Self.counting { try QueryRun(query).rows(in: store) }
        #expect(found.result.count == 1_000 && found.rows <= 1_000)
        #expect(found.result.allSatisfy { $0 == Mark($0.number) && $0.group == 17 })
    }
}
