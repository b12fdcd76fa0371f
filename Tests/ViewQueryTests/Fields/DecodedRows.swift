import Foundation
import LMDB
import Projections
import ProtobufWire
import Synchronization
import TestKit
import Testing
import ViewQuery

/// What is decoded of the rows that a query looks at.
@Suite(.serialized) struct DecodedRows {
    /// A text that counts how often it was decoded.
    struct Label: RowScalar, Equatable, Codable, IndexValue {
        static let decoded = Mutex(0)
        static var layout: String { "string" }
        static var indexWidths: [Int] { String.indexWidths }
        var isIndexCut: Bool { text.isIndexCut }

        var text = ""

        func write(_ number: UInt32, to writer: inout WireWriter) { writer.string(number, text) }

        static func read(_ field: WireField, _ reader: borrowing WireReader) throws(WireError) -> Label? {
            decoded.withLock { $0 += 1 }
            return Label(text: reader.string(field))
        }

        func appendIndexBytes(to bytes: inout [UInt8]) { text.appendIndexBytes(to: &bytes) }
    }

    struct Parcel: StoredRow, Equatable {
        static let made = Mutex(0)

        var node: UInt32 = 0
        var time: UInt32 = 0
        var weight: Int32 = 0
        var label = Label()
        var note = ""
        var half: Int32 { weight / 2 }

        init() { Self.made.withLock { $0 += 1 } }

        init(node: UInt32, time: UInt32, weight: Int32) {
            (self.node, self.time, self.weight) = (node, time, weight)
            (label, note) = (Label(text: "parcel \(node)"), "note \(weight)")
        }

        static let view = "parcels"
        static let columns: [RowColumn<Parcel>] = [
            RowColumn(key: "node", \.node), RowColumn(1, "time", \.time), RowColumn(2, "weight", \.weight),
            RowColumn(3, "label", \.label), RowColumn(4, "note", \.note), RowColumn(computed: "half", \.half),
        ]
        static let indexes: [RowIndex<Parcel>] = [.index(\.time), .index(\.weight)]
    }

    private static func store(_ folder: TemporaryFolder, _ count: UInt32) throws -> (ViewStore, [Parcel]) {
        let rows = (0..<count).map { Parcel(node: $0, time: $0 * 7_919 % count, weight: Int32($0 % 100) - 50) }
        let store = try ViewStore.open(
            at: folder.path + "/parcels", recipe: Recipe(view: "parcels", version: 1, policy: "", keyring: ""),
            tables: [Parcel.table], indexes: Parcel.indexedTables, access: .readWrite)
        try store.environment.write { (transaction) throws(StorageError) in
            for row in rows { try transaction.put(store.table(Parcel.table), key: row.key.rawSpan, value: row.value.rawSpan) }
        }
        try store.buildMissingIndexes()
        return (store, rows)
    }

    /// How many rows and labels were decoded meanwhile.
    private static func counting<Result>(_ body: () throws -> Result) rethrows -> (result: Result, rows: Int, labels: Int) {
        let (rows, labels) = (Parcel.made.withLock { $0 }, Label.decoded.withLock { $0 })
        let result = try body()
        return (result, Parcel.made.withLock { $0 } - rows, Label.decoded.withLock { $0 } - labels)
    }

    @Test func `K20: of chosen properties only those are decoded, and their values are those of whole rows`() throws {
        let folder = try TemporaryFolder()
        let (store, rows) = try Self.store(folder, 300)
        defer { store.close() }
        let orders: [[SortDescriptor<Parcel>]] = [
            [], [SortDescriptor(\.time, order: .reverse)], [SortDescriptor(\.weight), SortDescriptor(\.time)],
        ]
        for order in orders {
            var chosen = FetchDescriptor<Parcel>(predicate: #Predicate { $0.time >= 20 && $0.weight != 3 }, sortBy: order)
            let whole = try Self.counting { try QueryRun(chosen).rows(in: store) }
            #expect(whole.labels == whole.rows && whole.result.count > 250)
            chosen.propertiesToFetch = [\.weight]
            let found = try Self.counting { try QueryRun(chosen).rows(in: store) }
            #expect(found.labels == 0 && found.result.map(\.weight) == whole.result.map(\.weight))
            #expect(found.result.map(\.node) == whole.result.map(\.node) && found.result.allSatisfy { $0.note.isEmpty })
            #expect(try QueryRun(chosen).explanation.decodesChosen)
            // What the query needs itself is decoded as well.
            let wanted = Label(text: "parcel 7")
            chosen.predicate = #Predicate { $0.label == wanted && $0.time >= 0 }
            #expect(try QueryRun(chosen).rows(in: store).map(\.node) == [7])
            chosen.predicate = #Predicate { $0.half > 10 }
            #expect(try QueryRun(chosen).rows(in: store).count == rows.count { $0.half > 10 })
            chosen.predicate = nil
            chosen.textConditions = [.hasSuffix("NOTE -5", in: \.note), !.contains("0", in: \.note)]
            #expect(try QueryRun(chosen).rows(in: store).map(\.weight) == [-5, -5, -5])
            chosen.textConditions = []
            chosen.propertiesToFetch = [\.half]
            #expect(try QueryRun(chosen).rows(in: store).map(\.half) == QueryRun(chosen.whole).rows(in: store).map(\.half))
        }
        var page = FetchDescriptor<Parcel>(sortBy: [SortDescriptor(\.time)], fetchLimit: 40)
        page.propertiesToFetch = [\.weight]
        let first = try Self.counting { try QueryRun(page).page(in: store) }
        #expect(first.labels == 0 && first.result.total == 300)
        page.after = first.result.next
        #expect(try QueryRun(page).page(in: store).rows.map(\.weight) == rows.sorted { $0.time < $1.time }[40..<80].map(\.weight))
        // Groups are of whole rows.
        page.after = nil
        let groups = try QueryRun(page).groups(in: store, store.environment.beginRead(), by: { $0.label.text }, [])
        #expect(groups.count == 40 && !groups.contains { $0.key.isEmpty })
    }

    @Test func `K22: counting, and naming rows, by a key or an index decodes nothing`() throws {
        let folder = try TemporaryFolder()
        let (store, rows) = try Self.store(folder, 2_000)
        defer { store.close() }
        let several = [Int32(3), 5, 40]
        let queries: [(FetchDescriptor<Parcel>, Int)] = [
            (FetchDescriptor(), 2_000), (FetchDescriptor(predicate: #Predicate { $0.node < 700 }), 700),
            (FetchDescriptor(predicate: #Predicate { $0.time >= 100 && $0.time < 1_100 }), 1_000),
            (FetchDescriptor(predicate: #Predicate { several.contains($0.weight) }), 60),
            (
                FetchDescriptor(predicate: #Predicate { $0.weight == 7 && $0.node > 1_000 }),
                rows.count { $0.weight == 7 && $0.node > 1_000 }
            ),
        ]
        for (query, wanted) in queries {
            let counted = try Self.counting { try QueryRun(query).count(in: store) }
            #expect(counted.result == wanted && counted.rows == 0)
            let named = try Self.counting { try QueryRun(query).identifiers(in: store) }
            #expect(named.result.count == wanted && named.rows == 0)
            #expect(try Self.counting { try QueryRun(query).rows(in: store) }.rows == wanted)
        }
        var paged = FetchDescriptor<Parcel>(fetchLimit: 3)
        paged.after = try QueryRun(paged).page(in: store).next
        let refused = #expect(throws: QueryError.self) { try QueryRun(paged).count(in: store) }
        #expect(refused?.code == .unsupported)
    }

    @Test func `S9: a query with an index decodes the rows that it gives, however many there are`() throws {
        let folder = try TemporaryFolder()
        let (store, rows) = try Self.store(folder, 30_000)
        defer { store.close() }
        let range = FetchDescriptor<Parcel>(predicate: #Predicate { $0.time >= 5_000 && $0.time < 6_000 })
        let found = try Self.counting { try QueryRun(range).rows(in: store) }
        #expect(found.result == rows.filter { (5_000..<6_000).contains($0.time) } && found.rows == 1_000)
        let newest = FetchDescriptor<Parcel>(sortBy: [SortDescriptor(\.time, order: .reverse)], fetchLimit: 50)
        #expect(try Self.counting { try QueryRun(newest).rows(in: store) }.rows == 50)
    }

    @Test func `K17: what no index serves is asked of each row, which the plan tells and a descriptor can refuse`() throws {
        let folder = try TemporaryFolder()
        let (store, rows) = try Self.store(folder, 500)
        defer { store.close() }
        var mixed = FetchDescriptor<Parcel>(predicate: #Predicate { $0.time < 100 && $0.note.contains("4") })
        mixed.requiresIndex = true
        let explanation = try QueryRun(mixed).explanation
        #expect(explanation.access == .ranges && explanation.bounded == ["time"] && explanation.isFiltered)
        let found = try Self.counting { try QueryRun(mixed).rows(in: store) }
        #expect(found.rows == 100 && found.result == rows.filter { $0.time < 100 && $0.note.contains("4") })
        var folded = FetchDescriptor<Parcel>()
        folded.textConditions = [.contains("NÓTE 4", in: \.note)]
        #expect(try QueryRun(folded).explanation.description == "every row of parcels; filter: each row; sort: none")
        #expect(try QueryRun(folded).rows(in: store) == rows.filter { $0.note.contains("note 4") })
        #expect(try QueryRun(folded).count(in: store) == rows.count { $0.note.contains("note 4") })
        folded.requiresIndex = true
        let refused = #expect(throws: QueryError.self) { try QueryRun(folded) }
        #expect(refused?.code == .needsScan)
        folded.textConditions = [.contains("NÓTE 4", in: \.note, [])]
        folded.requiresIndex = false
        #expect(try QueryRun(folded).rows(in: store).isEmpty)
    }
}
