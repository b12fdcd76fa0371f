import LMDB
import Meshtastic
import ProtobufWire
import TestKit
import Testing

@testable import MeshLedger
@testable import MeshViews
@testable import Projections

/// Which rows of a baseline are of a node has to be known of every table.
@Suite struct ErasedTables {
    @Test func `a view cannot make a table that it has not declared`() throws {
        let folder = try TemporaryFolder()
        let store = try ViewStore.open(
            at: folder.path + "/links", recipe: Recipe(view: "links", version: 1, policy: "", keyring: ""), tables: ["links"],
            access: .readWrite)
        #expect(throws: Never.self) { try store.table("links") }
        let error = #expect(throws: StorageError.self) { try store.table("secrets") }
        #expect(error?.code == .noSuchTable)
    }

    @Test(arguments: [true, false]) func `a table that nobody declared is refused instead of being kept`(isOfNode: Bool) throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/baseline"
        let environment = try Environment.open(path, EnvironmentOptions())
        let table = try environment.table("secrets")
        let row: [UInt8] = [0, 0, 0, 7]
        var write = try environment.beginWrite()
        try write.put(table, key: row.rawSpan, value: row.rawSpan)
        try write.commit()
        environment.close()
        let copy = try BaselineCopy(of: path + "/data.mdb", at: folder.path + "/copy")
        let subject = isOfNode ? ErasureSubject.node(ErasedNode(7)) : .packet(ErasedPacket(id: 7))
        let error = #expect(throws: StorageError.self) {
            _ = try subject.leave(copy, of: "nodes", ViewRegistry.tables["nodes"], events: [])
        }
        #expect(error?.call.contains("nodes/secrets") == true)
    }

    @Test func `what the fold remembers of the packets of an erased node goes, and no other record`() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/baseline"
        let environment = try Environment.open(path, EnvironmentOptions(maximumTables: 8))
        let tables = try StageState.recordSizes.keys.map { ($0, try environment.table($0)) }
        var write = try environment.beginWrite()
        for (name, table) in tables {
            let size = try #require(StageState.recordSizes[name])
            var run: [UInt8] = []
            for (sequence, from, gateway) in [(1, 7, 8), (2, 8, 7), (3, 9, 9)] as [(UInt64, UInt32, UInt32)] {
                let record = bigEndian(sequence) + bigEndian(from) + bigEndian(UInt32(77)) + [0, 0, 0, 0] + bigEndian(gateway)
                run += (record + [UInt8](repeating: 0, count: 48)).prefix(size)
            }
            try write.put(table, key: bigEndian(UInt64(1)).rawSpan, value: run.rawSpan)
        }
        try write.commit()
        environment.close()
        let baseline = try BaselineCopy(of: path + "/data.mdb", at: folder.path + "/copy")
        _ = try ErasureSubject.node(ErasedNode(7)).leave(baseline, of: "nodes", ViewRegistry.tables["nodes"], events: [])
        let copy = try Environment.open(folder.path + "/copy", EnvironmentOptions(access: .readOnly, maximumTables: 8))
        defer { copy.close() }
        for (name, size) in StageState.recordSizes {
            let table = try copy.table(name)
            let read = try copy.beginRead()
            var cursor = try read.cursor(table)
            #expect(try cursor.first())
            let left = stride(from: 0, to: cursor.value.byteCount, by: size).map { cursor.value.bigEndianUInt64(at: $0) }
            #expect(left == (name == "carry.receptions" ? [3] : [2, 3]), "\(name)")
        }
    }
}
