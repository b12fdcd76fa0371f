import LMDB
import Projections
import ProtobufWire
import Synchronization
import TestKit
import Testing
import ViewQuery

/// How often rows are asked whether they are archived.
struct ArchivedRows {
    private static let asked = Mutex(0)

    private struct Leaf: KeptRow, Equatable {
        var number: UInt32
        var isArchived: Bool

        static let view = "leaves"
        static let table = "leaves"
        static let columns: [RowColumn<Leaf>] = [RowColumn(key: "number", \.number) { $0.number }]
        static let archive: RowArchive<Leaf>? = RowArchive(table: "archived") { leaf in
            asked.withLock { $0 += 1 }
            return leaf.isArchived
        }

        init(_ number: UInt32, isArchived: Bool = false) { (self.number, self.isArchived) = (number, isArchived) }

        init?(key: RawSpan, value: RawSpan) {
            self.init(key.bigEndianUInt32(at: 0), isArchived: value.byteCount == 2)
        }

        var key: [UInt8] { bigEndian(number) }
        var value: [UInt8] { isArchived ? [1, 1] : [1] }
    }

    private func put(_ leaves: [Leaf], in store: ViewStore) throws {
        var transaction = try store.environment.beginWrite()
        for leaf in leaves {
            try transaction.put(store.table(Leaf.table), key: leaf.key.rawSpan, value: leaf.value.rawSpan)
            guard leaf.isArchived else { continue }
            try transaction.put(store.table("archived"), key: [UInt8](arrayLiteral: 1).rawSpan, value: leaf.key.rawSpan)
        }
        try transaction.commit()
    }

    @Test func `S14: rows that are read in lots are asked whether they are archived only once one is`() throws {
        let folder = try TemporaryFolder()
        let store = try ViewStore.open(
            at: folder.path + "/leaves", recipe: Recipe(view: "leaves", version: 1, policy: "", keyring: ""),
            tables: [Leaf.table, "archived"], indexes: [], access: .readWrite)
        try put((0..<6).map { Leaf($0) }, in: store)
        var batches = try QueryBatches(FetchDescriptor<Leaf>(), size: 2)
        var numbers = try batches.next(in: { store })?.map(\.number) ?? []
        #expect(numbers == [0, 1] && Self.asked.withLock { $0 } == 0)
        try put([Leaf(3, isArchived: true)], in: store)
        while let lot = try batches.next(in: { store }) { numbers += lot.map(\.number) }
        #expect(numbers == [0, 1, 2, 4, 5] && Self.asked.withLock { $0 } >= 4)
        store.close()
    }
}
