import LMDB
import Meshtastic
import ProtobufWire
import TestKit
import Testing

@testable import MeshViews
@testable import Projections

/// Which rows of a baseline are of a node has to be known of every table.
@Suite struct ForgottenTables {
    @Test func `every table of every view is declared`() {
        let definitions = Ledger.definitions(.standard, LedgerOptions())
        #expect(definitions.count > 10)
        for definition in definitions {
            for table in definition.tables + ViewStore.Name.all {
                #expect(ForgottenNode.isDeclared(table, of: definition.name), "\(definition.name)/\(table)")
            }
        }
    }

    @Test func `a table that nobody declared is refused instead of being kept`() throws {
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
        let error = #expect(throws: StorageError.self) { try ForgottenNode(7).leave(copy, of: "nodes") }
        #expect(error?.call.contains("nodes/secrets") == true)
    }
}
