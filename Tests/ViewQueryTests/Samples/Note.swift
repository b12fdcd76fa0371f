import EventLog
import LMDB
import Projections
import ProtobufWire
import TestKit
import ViewQuery

/// A row with a text that can be searched.
struct Note: KeptRow, Equatable {
    var node: UInt32
    var sequence: UInt64
    var text = ""

    static let view = "notes"
    static let table = "notes"
    static let columns: [RowColumn<Note>] = [
        RowColumn(key: "node", \.node) { $0.node }, RowColumn(key: "sequence", \.sequence) { $0.sequence },
        RowColumn("text", \.text) { $0.text },
    ]
    static let texts: [RowText<Note>] = [RowText("text", \.text, hasParts: true) { $0.text }]

    init(node: UInt32, sequence: UInt64, _ text: String) { (self.node, self.sequence, self.text) = (node, sequence, text) }

    init?(key: RawSpan, value: RawSpan) {
        guard key.byteCount == 12 else { return nil }
        self.init(
            node: key.bigEndianUInt32(at: 0), sequence: key.bigEndianUInt64(at: 4),
            String(decoding: value.asArray, as: UTF8.self))
    }

    var key: [UInt8] { bigEndian(node) + bigEndian(sequence) }
    var value: [UInt8] { Array(text.utf8) }

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
