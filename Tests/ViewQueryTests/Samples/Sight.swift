import LMDB
import Projections
import ProtobufWire
import TestKit
import ViewQuery

/// A row with a key of three numbers, one of which is a kind that has no order, for tests of queries.
struct Sight: QueryRow, Equatable {
    enum Kind: UInt8, Sendable, CaseIterable, Codable { case fox = 1, owl = 2, hare = 7 }

    var node: UInt32
    var kind: Kind
    var time: UInt64
    var height: Int32?
    var name: String

    static let view = "sights"
    static let table = "sights"
    static let columns: [RowColumn<Sight>] = [
        RowColumn(key: "node", \.node) { $0.node },
        RowColumn(key: "kind", \.kind, widths: [1], numbers: { [UInt64($0.rawValue)] }, get: { $0.kind }),
        RowColumn(key: "time", \.time) { $0.time },
        RowColumn("height", \.height) { $0.height },
        RowColumn("name", \.name) { $0.name },
    ]

    init(node: UInt32, kind: Kind, time: UInt64, height: Int32? = nil, name: String = "") {
        (self.node, self.kind, self.time, self.height, self.name) = (node, kind, time, height, name)
    }

    init?(key: RawSpan, value: RawSpan) {
        guard key.byteCount == 13, value.byteCount >= 5, let kind = Kind(rawValue: key.byte(at: 4)) else { return nil }
        self.init(
            node: key.bigEndianUInt32(at: 0), kind: kind, time: key.bigEndianUInt64(at: 5),
            height: value.byte(at: 0) == 1 ? Int32(bitPattern: value.bigEndianUInt32(at: 1)) : nil,
            name: String(decoding: value.asArray.dropFirst(5), as: UTF8.self))
    }

    var key: [UInt8] { bigEndian(node) + [kind.rawValue] + bigEndian(time) }
    var value: [UInt8] { [height == nil ? 0 : 1] + bigEndian(UInt32(bitPattern: height ?? 0)) + Array(name.utf8) }

    static func random(_ count: Int, _ random: inout SeededGenerator) -> [Sight] {
        var rows: [[UInt8]: Sight] = [:]
        for _ in 0..<count {
            let row = Sight(
                node: [0, 1, 2, 77, .max - 1, .max].randomElement(using: &random) ?? 0,
                kind: Kind.allCases.randomElement(using: &random) ?? .fox,
                time: Bool.random(using: &random)
                    ? UInt64.random(in: 0..<40, using: &random) : .max - UInt64.random(in: 0..<3, using: &random),
                height: Bool.random(using: &random) ? Int32.random(in: -3...3, using: &random) : nil,
                name: ["", "ab", "abc", "Berg", "xaby"].randomElement(using: &random) ?? "")
            rows[row.key] = row
        }
        return rows.values.sorted { $0.key.lexicographicallyPrecedes($1.key) }
    }

    static func store(_ folder: TemporaryFolder, _ rows: [Sight], name: String = "sights") throws -> ViewStore {
        let store = try ViewStore.open(
            at: folder.path + "/" + name, recipe: Recipe(view: "sights", version: 1, policy: "", keyring: ""), tables: [table],
            access: .readWrite)
        try store.environment.write { (transaction) throws(StorageError) in
            for row in rows { try transaction.put(store.table(table), key: row.key.rawSpan, value: row.value.rawSpan) }
        }
        return store
    }
}
