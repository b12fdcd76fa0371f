import EventLog
import Foundation
import LMDB
import MeshCrypto

/// A log's rows in the hands of somebody who can write the files and knows `FORMAT.md`, but has no signing key. Whatever is changed, `write` grows
/// everything again that depends on it: checksums, sealed blocks, the index of arrival times, the tree.
///
/// It knows the format on its own account; of the log's code it uses nothing.
struct ForgedLog {
    /// Each from its byte 8 on: 24 bytes of header, then the payload.
    var records: [[UInt8]] = []
    /// Of each tile: a seed of 16 bytes, or 256 salts.
    var salts: [[UInt8]] = []
    var sources: [Row] = []
    var cursors: [Row] = []
    var meta: [Row] = []
    /// Where copied events come from.
    var origins: [Row] = []
    /// Where blocks begin, and how many records they have.
    var blocks: [(first: Int, count: Int)] = []
    /// How many of the first are not written, as after a cut by retention.
    var dropped = 0
    /// What goes into the tree in place of the right hashes, by tile.
    var treeHashes: [Int: [UInt8]] = [:]
    /// What blocks tell in place of the facts of their events, by the place of the block.
    var blockFacts: [Int: [UInt8]] = [:]
    /// What goes into the headers of blocks in place of the right arrival times, by the place of the block.
    var blockArrivals: [Int: (Int64, Int64)] = [:]

    struct Row: Sendable {
        var key: [UInt8]
        var value: [UInt8]
    }

    static let tables = ["events", "sealed", "arrivals", "salts", "tree", "sources", "cursors", "meta", "origins"]

    init(_ path: String) throws {
        let (environment, tables) = try Self.open(path, .readOnly)
        defer { environment.close() }
        func rows(_ name: String) throws -> [Row] {
            guard let table = tables[name] else { return [] }
            let read = try environment.beginRead()
            var cursor = try read.cursor(table)
            var rows: [Row] = []
            while try cursor.next() { rows.append(Row(key: Self.array(cursor.key), value: Self.array(cursor.value))) }
            return rows
        }
        for row in try rows("sealed") {
            let block = try SealedForm(row.value)
            blocks.append((records.count + 1, block.records.count))
            records += block.records
        }
        records += try rows("events").map { Array($0.value.dropFirst(8)) }
        salts = try rows("salts").map(\.value)
        sources = try rows("sources")
        cursors = try rows("cursors")
        meta = try rows("meta")
        origins = try rows("origins")
    }

    /// Replaces all rows of the log at `path`.
    func write(to path: String) throws {
        let (environment, tables) = try Self.open(path, .readWrite)
        defer { environment.close() }
        func put(_ rows: [Row], _ name: String) throws {
            guard let table = tables[name] else { throw Failure("no table \(name)") }
            try environment.write { (write) throws(StorageError) in
                try write.removeAll(table)
                for row in rows { try write.put(table, key: unsafe row.key.span.bytes, value: unsafe row.value.span.bytes) }
            }
        }
        let sealed = sealedBlocks
        try put(sealed.map { Row(key: Self.bigEndian(UInt64($0.first)), value: blockValue($0)) }, "sealed")
        let hot = (sealed.last.map { $0.first + $0.count } ?? dropped + 1)..<max(records.count + 1, 1)
        try put(
            hot.map { sequence in
                let body = records[sequence - 1]
                let checksum = XXH3.hash(body, seed: UInt64(sequence))
                return Row(key: Self.bigEndian(UInt64(sequence)), value: Self.littleEndian(checksum, 8) + body)
            }, "events")
        let keptTiles = dropped / 256
        try put(Array(arrivals.dropFirst(keptTiles)), "arrivals")
        let salts = neededSalts.enumerated().map { Row(key: Self.bigEndian(UInt64($0)), value: $1) }
        try put(Array(salts.dropFirst(keptTiles)), "salts")
        try put(tree, "tree")
        try put(sources, "sources")
        try put(cursors, "cursors")
        try put(meta, "meta")
        try put(origins, "origins")
    }

    /// Those blocks that still have all their records.
    private var sealedBlocks: [(place: Int, first: Int, count: Int)] {
        blocks.enumerated().filter { $1.first + $1.count - 1 <= records.count }.map { ($0, $1.first, $1.count) }
    }

    private func blockValue(_ block: (place: Int, first: Int, count: Int)) -> [UInt8] {
        let own = Array(records[block.first - 1..<block.first - 1 + block.count])
        let form = SealedForm(records: own, facts: blockFacts[block.place] ?? Self.facts(own))
        return form.value(first: UInt64(block.first), arrivals: blockArrivals[block.place])
    }

    private var fullTiles: Int { records.count / 256 }

    private var arrivals: [Row] {
        (0..<fullTiles).map { tile in
            let times = records[tile * 256..<tile * 256 + 256].map(Self.arrival)
            let range = [times.min() ?? 0, times.max() ?? 0]
            return Row(
                key: Self.bigEndian(UInt64(tile)), value: range.flatMap { Self.littleEndian(UInt64(bitPattern: $0), 8) })
        }
    }

    /// One for each tile that has events.
    private var neededSalts: [[UInt8]] {
        (0..<(records.count + 255) / 256).map {
            $0 < salts.count ? salts[$0] : SHA256.hash([UInt8(truncatingIfNeeded: $0)]).prefix(16) + []
        }
    }

    private var tree: [Row] {
        let salts = neededSalts
        return (0..<fullTiles).map { tile in
            let leaves = (0..<256).map { place in
                Self.leafHash(records[tile * 256 + place], UInt64(tile * 256 + place + 1), salt: Self.salt(salts[tile], place))
            }
            return Row(key: [254] + Self.bigEndian(UInt64(tile)), value: treeHashes[tile] ?? Self.root(leaves))
        }
    }

    /// The right hash of a tile.
    func tileHash(_ tile: Int) -> [UInt8] { tree[tile].value }
}

extension ForgedLog {
    static let erased: UInt8 = 8
    /// In a record from its byte 8 on.
    static let flags = 21

    static func arrival(_ record: [UInt8]) -> Int64 {
        Int64(bitPattern: (0..<8).reduce(0) { $0 | UInt64(record[$1]) << (8 * UInt64($1)) })
    }

    /// The hash that stands for the payload, also after an erasure.
    static func innerHash(_ record: [UInt8], salt: [UInt8]) -> [UInt8] {
        record[flags] & erased != 0 ? Array(record[24...]) : SHA256.hash(salt + record[24...])
    }

    static func leafHash(_ record: [UInt8], _ sequence: UInt64, salt: [UInt8]) -> [UInt8] {
        var header = Array(record[..<24])
        header[flags] &= ~erased
        return SHA256.hash([0] + bigEndian(sequence) + header + innerHash(record, salt: salt))
    }

    /// What a block tells of its events: the facet 1, their first bytes.
    static func facts(_ records: [[UInt8]]) -> [UInt8] {
        let held = Set(records.filter { $0[flags] & erased == 0 }.compactMap { $0.dropFirst(24).first }).sorted()
        func varint(_ number: Int) -> [UInt8] {
            number < 128 ? [UInt8(number)] : [UInt8(number & 127) | 128] + varint(number >> 7)
        }
        let message = [0x08, 0x01, 0x12] + varint(4 * held.count) + held.flatMap { [$0, 0, 0, 0] }
        return [0x0a] + varint(message.count) + message
    }

    static func root(_ leaves: [[UInt8]]) -> [UInt8] {
        if leaves.count == 1 { return leaves[0] }
        let half = leaves.count / 2
        return SHA256.hash([1] + root(Array(leaves[..<half])) + root(Array(leaves[half...])))
    }

    /// All salts of a tile.
    static func written(_ stored: [UInt8]) -> [UInt8] {
        if stored.count != 16 { return stored }
        guard let cipher = try? AESCTR(key: stored),
            let salts = try? cipher.apply(iv: [UInt8](repeating: 0, count: 16), [UInt8](repeating: 0, count: 4096))
        else { return [] }
        return salts
    }

    static func salt(_ stored: [UInt8], _ place: Int) -> [UInt8] { Array(written(stored)[16 * place..<16 * place + 16]) }

    static func bigEndian(_ number: UInt64) -> [UInt8] { littleEndian(number, 8).reversed() }

    static func littleEndian(_ number: UInt64, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * UInt64($0))) }
    }

    static func array(_ span: RawSpan) -> [UInt8] { unsafe span.withUnsafeBytes { unsafe [UInt8]($0) } }

    private static func open(_ path: String, _ access: EnvironmentOptions.Access) throws -> (Environment, [String: RawTable]) {
        let text = try String(contentsOfFile: path + "/log/current", encoding: .utf8)
        guard let generation = text.split(separator: "\n").dropFirst().first?.split(separator: " ").last else {
            throw Failure(text)
        }
        let options = EnvironmentOptions(
            access: access, durability: access == .readOnly ? .full : .none, maximumTables: 16, createsFolder: false)
        let environment = try Environment.open("\(path)/log/\(generation)", options)
        let tables = try Self.tables.map { ($0, try environment.table($0)) }
        return (environment, Dictionary(uniqueKeysWithValues: tables))
    }
}
