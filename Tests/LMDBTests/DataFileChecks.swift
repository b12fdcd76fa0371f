import LMDB
import TestKit
import Testing

/// The check of a file's pages before it is opened, beside a writer.
struct DataFileChecks {
    @Test func `a commit that makes the file longer while it is checked is no damage`() throws {
        let folder = try TemporaryFolder()
        let environment = try Environment.open(folder.path)
        let table = try environment.table("rows", UInt32.self, [UInt8].self)
        let opened = try DataFile(folder.path + "/data.mdb")
        var write = try environment.beginWrite()
        for number in UInt32(0)..<2_000 { try write.put(table, number, Array(repeating: 7, count: 100)) }
        try write.commit()
        #expect(try DataFile(folder.path + "/data.mdb").size > opened.size)
        #expect(try DataFileCheck.fault(opened) == nil)
        environment.close()
    }
}
