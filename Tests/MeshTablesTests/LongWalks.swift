import EventLog
import Foundation
import MeshLedger
import Meshtastic
import ProtobufWire
import TestKit
import Testing

@testable import MeshCommands
@testable import MeshTables

/// Walks through so many rows of a view that another thread reads ahead.
@Suite(.timeLimit(.minutes(3)))
struct LongWalks {
    private static let count = 6_000

    private func ledger() async throws -> Ledger {
        let ledger = try await Ledger.temporary(options: LedgerOptions(log: EventLogOptions(isDurable: false)))
        let source = try await ledger.log.source(named: "made")
        var batch = EventBatch()
        for number in 0..<UInt32(Self.count) {
            var writer = WireWriter()
            writer.message(1) { packet in
                packet.fixed32(1, 100 + number % 40)
                packet.fixed32(2, .max)
                packet.message(4) { data in
                    data.varint(1, 1)
                    data.string(2, "text \(number)" + String(repeating: "x", count: Int(number % 97)))
                }
                packet.fixed32(6, number + 1)
                packet.fixed32(7, 1_760_000_000 + number)
            }
            writer.string(2, "LongFast")
            writer.string(3, "!aabbccdd")
            batch.append(NewEvent(writer.bytes, encoding: .serviceEnvelope, source: source))
        }
        try await ledger.log.append(batch)
        try await ledger.catchUp()
        return ledger
    }

    @Test func `rows that another thread reads ahead are those of the library, however the walk ends`() async throws {
        let ledger = try await ledger()
        let sqlite = try LinkedSQLite(ledger, LedgerOpener())
        defer { withExtendedLifetime(sqlite) {} }
        func rows(_ text: String, most: Int = .max) throws -> [[SQLValue]] {
            var found: [[SQLValue]] = []
            try sqlite.connection.run(
                text, begin: { _ in },
                row: { row in
                    found.append(row)
                    return found.count < most
                }, end: {})
            return found
        }
        var query = RowQuery()
        query.newestFirst = false
        let texts = try ledger.messages(query).map { [SQLValue.text($0.text)] }
        #expect(texts.count == Self.count)
        let inOrder = "SELECT text FROM messages ORDER BY time, id"
        #expect(try rows(inOrder) == texts)
        #expect(try rows("SELECT text FROM messages").map(\.description).sorted() == texts.map(\.description).sorted())
        for most in [1, 960, 961, 2_000, 5_999] {
            let walked = try rows("SELECT text FROM messages", most: most)
            #expect(walked.count == most && Set(walked).count == most)
        }
        #expect(try rows("SELECT text FROM messages LIMIT 10 OFFSET 4000").count == 10)
        // Two walks of one view in one statement, of which the one looks rows up while the other is read ahead.
        let pairs =
            "SELECT count(*), sum(a.text = b.text) FROM messages a JOIN messages b ON b.[from] = a.[from] AND b.id = a.id"
        let same = SQLValue.integer(Int64(Self.count))
        #expect(try rows(pairs) == [[same, same]])
        let nested = "SELECT count(*) FROM messages a WHERE EXISTS (SELECT 1 FROM messages b WHERE b.id = a.id + 1)"
        #expect(try rows(nested + " AND a.id > \(Self.count - 30)") == [[.integer(29)]])
        try await ledger.close()
    }

    @Test func `a row that cannot be read ends a walk as damage of its view, also where another thread reads`() async throws {
        let ledger = try await ledger()
        let sqlite = try LinkedSQLite(ledger, LedgerOpener())
        defer { withExtendedLifetime(sqlite) {} }
        // The length of a stored text, which is before it, becomes one that no row has.
        let folder = URL(fileURLWithPath: ledger.path + "/views/messages")
        let stores = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        let file = try #require(stores.first { $0.hasDirectoryPath }).appending(path: "data.mdb")
        var bytes = try Data(contentsOf: file)
        var (from, damaged) = (bytes.startIndex, 0)
        while let place = bytes.range(of: Data("text 5000x".utf8), in: from..<bytes.endIndex) {
            bytes[place.lowerBound - 1] = 0x7f
            (from, damaged) = (place.upperBound, damaged + 1)
        }
        #expect(damaged > 0)
        let handle = try FileHandle(forUpdating: file)
        try handle.write(contentsOf: bytes)
        try handle.close()
        let error = #expect(throws: LedgerError.self) {
            try sqlite.connection.run("SELECT sum(receptions) FROM messages", begin: { _ in }, row: { _ in true }, end: {})
        }
        #expect(error?.code == .corrupt && error?.description.contains("cannot be read; run `meshledger view rebuild`") == true)
        try await ledger.close()
    }
}
