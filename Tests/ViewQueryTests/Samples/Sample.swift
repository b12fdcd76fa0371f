import LMDB
import Projections
import ProtobufWire
import TestKit
import ViewQuery

/// A row with properties of every kind that can be indexed, and indexes of one to four of them in all orders.
struct Sample: KeptRow, Equatable {
    enum Kind: UInt8, Sendable, CaseIterable, Codable, IndexValue { case red = 1, green = 4, blue = 9 }

    var node: UInt32
    var sequence: UInt64
    var time: UInt32 = 0
    var level: Int16 = 0
    var heat: Double?
    var snr: Float = 0
    var name = ""
    var alias: String?
    var isOn = false
    var kind = Kind.red
    /// Of no type that can be indexed.
    var list: [Int] = [0]

    static let view = "samples"
    static let table = "samples"
    static let columns: [RowColumn<Sample>] = [
        RowColumn(key: "node", \.node) { $0.node },
        RowColumn(key: "sequence", \.sequence) { $0.sequence },
        RowColumn("time", \.time) { $0.time },
        RowColumn("level", \.level) { $0.level },
        RowColumn("heat", \.heat) { $0.heat },
        RowColumn("snr", \.snr) { $0.snr },
        RowColumn("name", \.name) { $0.name },
        RowColumn("alias", \.alias) { $0.alias },
        RowColumn("isOn", \.isOn) { $0.isOn },
        RowColumn("kind", \.kind) { $0.kind },
        RowColumn("list", \.list) { $0.list },
    ]
    static let indexes: [RowIndex<Sample>] = [
        .index(\.time), .index(\.level, \.time), .index(\.heat), .index(.descending(\.snr), .ascending(\.level)),
        .index(\.name), .index(\.alias, \.isOn), .index(.ascending(\.kind), .descending(\.time)),
        .index(.ascending(\.isOn), .descending(\.kind), .ascending(\.level), .descending(\.heat)), .index(\.sequence),
    ]

    init(node: UInt32, sequence: UInt64) { (self.node, self.sequence) = (node, sequence) }

    init?(key: RawSpan, value: RawSpan) {
        guard key.byteCount == 12, value.byteCount >= 36, let kind = Kind(rawValue: value.byte(at: 30)) else { return nil }
        self.init(node: key.bigEndianUInt32(at: 0), sequence: key.bigEndianUInt64(at: 4))
        time = value.bigEndianUInt32(at: 0)
        level = Int16(truncatingIfNeeded: value.bigEndianUInt32(at: 4))
        heat = value.byte(at: 28) == 1 ? Double(bitPattern: value.bigEndianUInt64(at: 8)) : nil
        snr = Float(bitPattern: value.bigEndianUInt32(at: 16))
        isOn = value.byte(at: 29) == 1
        self.kind = kind
        list = [Int(value.byte(at: 31))]
        let texts = value.asArray.dropFirst(36)
        let length = Int(value.bigEndianUInt32(at: 20))
        guard length <= texts.count else { return nil }
        name = String(decoding: texts.prefix(length), as: UTF8.self)
        alias = value.byte(at: 32) == 1 ? String(decoding: texts.dropFirst(length), as: UTF8.self) : nil
    }

    var key: [UInt8] { bigEndian(node) + bigEndian(sequence) }
    var value: [UInt8] {
        let numbers = bigEndian(time) + bigEndian(Int32(level)) + bigEndian((heat ?? 0).bitPattern) + bigEndian(snr.bitPattern)
        let flags: [UInt8] = [
            heat == nil ? 0 : 1, isOn ? 1 : 0, kind.rawValue, UInt8(list.first ?? 0), alias == nil ? 0 : 1, 0, 0, 0,
        ]
        return numbers + bigEndian(UInt32(name.utf8.count)) + bigEndian(UInt32(0)) + flags + Array(name.utf8)
            + Array((alias ?? "").utf8)
    }

    static let names = [
        "", "a", "ab", "abc", "b", "\u{e9}", "e\u{301}", "e", "Zoë", "👩‍👩‍👧", "a\u{0}", "a\u{0}b", String(repeating: "x", count: 64),
        String(repeating: "x", count: 65), String(repeating: "x", count: 65) + "y", String(repeating: "é", count: 40),
    ]
    static let numbers: [Double] = [-.infinity, -2.5, -1, -0.0, 0, 0.5, 1, 3, .greatestFiniteMagnitude]

    static func random(_ node: UInt32, _ sequence: UInt64, _ random: inout SeededGenerator) -> Sample {
        var row = Sample(node: node, sequence: sequence)
        row.time = UInt32.random(in: 0..<30, using: &random)
        row.level = [.min, -3, -1, 0, 1, 2, .max].randomElement(using: &random) ?? 0
        row.heat = Bool.random(using: &random) ? numbers.dropFirst().randomElement(using: &random) : nil
        row.snr = Float(Int.random(in: -3...3, using: &random)) / 2
        row.name = names.randomElement(using: &random) ?? ""
        row.alias = Bool.random(using: &random) ? names.randomElement(using: &random) : nil
        row.isOn = Bool.random(using: &random)
        row.kind = Kind.allCases.randomElement(using: &random) ?? .red
        row.list = [Int.random(in: 0..<4, using: &random)]
        return row
    }

    static func random(_ count: Int, _ random: inout SeededGenerator) -> [Sample] {
        var rows: [[UInt8]: Sample] = [:]
        for _ in 0..<count {
            let row = Sample.random(
                [0, 1, 2, .max].randomElement(using: &random) ?? 0, UInt64.random(in: 0..<80, using: &random), &random)
            rows[row.key] = row
        }
        return rows.values.sorted { $0.key.lexicographicallyPrecedes($1.key) }
    }

    /// - Parameter isIndexed: whether its indexes are built.
    static func store(_ folder: TemporaryFolder, _ rows: [Sample], isIndexed: Bool = true) throws -> ViewStore {
        let store = try ViewStore.open(
            at: folder.path + "/samples", recipe: Recipe(view: "samples", version: 1, policy: "", keyring: ""), tables: [table],
            indexes: indexedTables, access: .readWrite)
        try store.environment.write { (transaction) throws(StorageError) in
            for row in rows { try transaction.put(store.table(table), key: row.key.rawSpan, value: row.value.rawSpan) }
        }
        if isIndexed { try store.buildMissingIndexes() }
        return store
    }
}
