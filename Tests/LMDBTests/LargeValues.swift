import LMDB
import TestKit
import Testing

/// Values beside which others are read.
struct LargeValues {
    @Test func `K3: a value of a megabyte has pages of its own, and a scan of the other rows reads as many as before`() throws {
        let folder = try TemporaryFolder()
        let environment = try Environment.open(folder.path)
        let table = try environment.table("rows", UInt32.self, [UInt8].self)
        var write = try environment.beginWrite()
        for number in UInt32(0)..<2_000 where number != 1_000 { try write.put(table, number, Array(repeating: 7, count: 100)) }
        try write.put(table, 1_000, [])
        try write.commit()
        let before = try environment.beginRead().statistics(table.raw)
        let large = [UInt8](repeating: 9, count: 1 << 20)
        write = try environment.beginWrite()
        try write.put(table, 1_000, large)
        try write.commit()
        let transaction = try environment.beginRead()
        let after = try transaction.statistics(table.raw)
        #expect(before.overflowPages == 0 && before.entries == 2_000 && after.entries == 2_000)
        #expect(after.overflowPages == large.count / 4_096 + 1)
        #expect(after.pages - after.overflowPages == before.pages)
        #expect(try transaction.get(table, 1_000) == large)
        environment.close()
    }
}
