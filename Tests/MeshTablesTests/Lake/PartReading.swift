import Foundation
import MeshLedger
import TestKit
import Testing

@testable import MeshTables

/// What `lake verify` reads in the files of a lake.
@Suite struct PartReading {
    private static let columns: [TableColumn<UInt64>] = [
        TableColumn("sequence", .number { $0 }),
        TableColumn("large", .optional { $0 % 3 == 0 ? nil : $0 &* 0x9e37_79b9_7f4a_7c15 }),
        TableColumn("small", .optional { $0 % 5 == 0 ? nil : Int32(truncatingIfNeeded: $0 &* 0x9e37_79b9) }),
        TableColumn("few", .number { Int32($0 % 7) - 3 }),
        TableColumn("unsigned", .number { UInt32(truncatingIfNeeded: $0 << 20) }),
        TableColumn("signed", .number { Int64(bitPattern: $0 &* 0x9e37_79b9_7f4a_7c15) }),
        TableColumn("time", .time { UInt32(truncatingIfNeeded: $0 % 9 == 0 ? 0 : 1_760_000_000 + $0 * $0) }),
        TableColumn("text", .optionalText { $0 % 11 == 0 ? nil : "\($0 &* 0x9e37_79b9)é\0" }),
        TableColumn("word", .name { $0 % 2 == 0 ? nil : "word \($0 % 40)" }), TableColumn("empty", .text { _ in "" }),
        TableColumn("truth", .optional { $0 % 13 == 0 ? nil : $0 % 3 == 1 }), TableColumn("always", .number { $0 % 2 == 1 }),
        TableColumn("double", .optional { $0 % 4 == 0 ? nil : Double(bitPattern: $0 &* 0x9e37_79b9_7f4a_7c15) }),
        TableColumn("float", .number { [-0.0, .nan, .infinity, Float($0) / 7][Int($0 % 4)] }),
        TableColumn("list", .texts { number in (0..<number % 4).map { "\(number) \($0)" } }),
        TableColumn("nothing", .optional { _ in UInt64?.none }),
    ]
    private static let schema = TableSchema(name: "rows", columns: columns.map(\.schema))

    private func file(_ rows: Range<UInt64>, perGroup: Int = .max) throws -> (bytes: [UInt8], digest: String) {
        let (output, seed) = (MemoryOutput(), UInt64(7))
        let writer = try ParquetWriter(Self.schema, to: output, .ofLakes)
        var (digest, names): (RowDigest, [Int: [UInt64]]) = (RowDigest(), [:])
        let builder = BatchBuilder(Self.columns) { batch in
            for (row, hash) in RowDigest.hashes(batch, seed: seed, &names).enumerated() { digest.add(hash, row: row, []) }
            try writer.write(batch)
        }
        for row in rows {
            try builder.append(row)
            if Int(row) % perGroup == perGroup - 1 {
                try builder.finish()
                try writer.endPendingGroup()
            }
        }
        try builder.finish()
        try writer.finish()
        return (output.bytes, digest.text)
    }

    @Test(arguments: [0, 1, 7, 8, 9, 129, 3_000, 140_000])
    func `the rows of a file have the digest with which it was written`(_ count: UInt64) throws {
        let (bytes, digest) = try file(0..<count)
        let reader = try PartReader(bytes)
        #expect(try reader.digest(Self.schema.columns, seed: 7).text == digest)
        #expect(try reader.schema == PartReader.schema(of: Self.schema))
    }

    @Test func `pages and groups of rows are read in order`() throws {
        let (bytes, digest) = try file(0..<9_000, perGroup: 1_000)
        #expect(try PartReader(bytes).digest(Self.schema.columns, seed: 7).text == digest)
    }

    @Test func `another row, and another name or type of a column, are noticed`() throws {
        let (bytes, digest) = try file(1..<101)
        #expect(try file(2..<102).digest != digest)
        var other = Self.schema
        other.columns[3].name = "fewer"
        #expect(try PartReader(bytes).schema != PartReader.schema(of: other))
        other = Self.schema
        other.columns[6] = ColumnSchema("time", .int64)
        #expect(try PartReader(bytes).schema != PartReader.schema(of: other))
    }

    @Test func `damaged files end with an error or another digest, and nothing worse`() throws {
        let (bytes, _) = try file(0..<300)
        var random = SeededGenerator(seed: 1)
        for length in stride(from: 0, to: bytes.count, by: 37) {
            #expect(throws: TableError.self) { try PartReader(Array(bytes[..<length])) }
        }
        for _ in 0..<3_000 {
            var damaged = bytes
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                // Half of them in the footer, where places and counts are.
                let start = Bool.random(using: &random) ? 0 : max(0, bytes.count - 3_000)
                damaged[Int.random(in: start..<bytes.count, using: &random)] = UInt8.random(in: 0 ... .max, using: &random)
            }
            do {
                _ = try PartReader(damaged).digest(Self.schema.columns, seed: 7)
            } catch {
                #expect((error as? TableError)?.code == .damaged)
            }
        }
    }
}
