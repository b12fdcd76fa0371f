import LMDB
import Projections
import ProtobufWire
import TestKit
import Testing

/// A digest stands for the rows of a view: other rows have another one, also where all of their bytes follow each other in the same order.
struct Digests {
    private func digest(_ rows: [(key: [UInt8], value: [UInt8])]) throws -> String {
        let folder = try TemporaryFolder()
        let store = try openStore(folder.path + "/view")
        var transaction = try store.environment.beginWrite()
        for row in rows { try transaction.put(store.table("last"), key: row.key.rawSpan, value: row.value.rawSpan) }
        try transaction.commit()
        let digest = try store.digest(of: ["last"])
        store.close()
        return digest
    }

    @Test func `rows whose bytes are divided otherwise have another digest`() throws {
        let rows: [(key: [UInt8], value: [UInt8])] = [([1], [5]), ([2], [6])]
        #expect(try digest(rows) == digest(rows))
        #expect(try digest(rows) != digest([([1], [5, 0, 0, 0, 1, 2, 6])]), "the length of a value is between them")
        #expect(try digest([([1], [0, 0, 0, 1, 9])]) != digest([([1, 0, 0, 0, 5], [9])]), "the length of a key counts as well")
    }
}
