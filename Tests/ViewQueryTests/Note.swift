import EventLog
import LMDB
import Projections
import ProtobufWire
import TestKit
import ViewQuery

/// A row with a text that can be searched.
struct Note: QueryRow, Equatable {
    var node: UInt32
    var sequence: UInt64
    var text = ""

    static let view = "notes"
    static let table = "notes"
    static let columns: [RowColumn<Note>] = [
        RowColumn(key: "node", \.node) { $0.node }, RowColumn(key: "sequence", \.sequence) { $0.sequence },
        RowColumn("text", \.text) { $0.text },
    ]
    static let texts: [RowText<Note>] = [RowText("text", \.text) { $0.text }]

    init(node: UInt32, sequence: UInt64, _ text: String) { (self.node, self.sequence, self.text) = (node, sequence, text) }

    init?(key: RawSpan, value: RawSpan) {
        guard key.byteCount == 12 else { return nil }
        self.init(
            node: key.bigEndianUInt32(at: 0), sequence: key.bigEndianUInt64(at: 4),
            String(decoding: value.asArray, as: UTF8.self))
    }

    var key: [UInt8] { bigEndian(node) + bigEndian(sequence) }

    private static let words = [
        "water", "Water", "pump", "PUMP", "help", "the", "the", "the", "café", "cafe\u{301}", "naïve", "straße", "ΣΊΣΥΦΟΣ", "水",
        "東京",
        "カレー", "👍", "👍🏽", "don't", "don’t", "ﬁre", "１２３", "123", String(repeating: "long", count: 40),
    ]

    static func text(_ random: inout SeededGenerator) -> String {
        (0..<Int.random(in: 0..<9, using: &random)).map { _ in
            // Few words are frequent, as in a language.
            words[min(Int.random(in: 0..<words.count, using: &random), Int.random(in: 0..<words.count, using: &random))]
        }.joined(separator: [" ", ", ", "-", "!"].randomElement(using: &random) ?? " ")
    }

    static func store(_ folder: TemporaryFolder, indexes: [IndexedTable] = indexedTables) throws -> ViewStore {
        try ViewStore.open(
            at: folder.path + "/notes", recipe: Recipe(view: "notes", version: 1, policy: "", keyring: ""), tables: [table],
            indexes: indexes, access: .readWrite)
    }
}

/// Stores and removes notes as its batches say.
struct NoteRows: Projection {
    struct Batch: FoldBatch {
        var events: ClosedRange<EventSequence>
        var lastChecksum: UInt64 { events.upperBound.rawValue &* 31 }
        var carry = Carry()
        var changes: [(row: Note, isGone: Bool)]

        init(first: UInt64, _ changes: [(row: Note, isGone: Bool)]) {
            events = EventSequence(first)...EventSequence(first + UInt64(changes.count) - 1)
            self.changes = changes
        }
    }

    let name = "notes"
    let version: UInt32 = 1
    let policy = ""
    let rowTables = [Note.table]
    let stateTables: [String] = []
    var indexes: [IndexedTable] { Note.indexedTables }
    private var pending: [[UInt8]: Note?] = [:]

    var pendingBytes: Int { pending.count * 100 }

    mutating func load(_ store: ViewStore) {}

    mutating func fold(_ batch: Batch, after checkpoint: EventSequence, in context: inout FoldContext) {
        for (row, isGone) in batch.changes { pending[row.key] = .some(isGone ? nil : row) }
    }

    func write(to transaction: inout WriteTransaction, store: ViewStore) throws(StorageError) {
        let table = try store.table(Note.table)
        for (key, row) in pending {
            if let row {
                try transaction.put(table, key: key.rawSpan, value: Array(row.text.utf8).rawSpan)
            } else {
                try transaction.delete(table, key: key.rawSpan)
            }
        }
    }

    mutating func committed() { pending.removeAll() }
}
