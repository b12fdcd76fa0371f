import MeshTables
import Testing

@Suite struct ColumnBuilding {
    private struct Row {
        var number: UInt32?
        var text: String
    }

    @Test func `batches end after 65,536 rows and keep nulls apart`() throws {
        let columns: [TableColumn<Row>] = [
            TableColumn("number", .optional { $0.number }), TableColumn("text", .name { $0.text }),
        ]
        var batches: [ColumnBatch] = []
        let builder = BatchBuilder(columns) { batches.append($0) }
        for index in 0..<70_000 as Range<UInt32> {
            try builder.append(Row(number: index % 3 == 0 ? nil : index, text: index % 2 == 0 ? "é" : "e\u{301}"))
        }
        try builder.finish()
        #expect(batches.map(\.rowCount) == [65_536, 4_464])
        let numbers = try #require(batches.last?.columns.first)
        #expect(numbers.nullCount == (65_536..<70_000).count { $0 % 3 == 0 })
        #expect((0..<4_464).allSatisfy { numbers.isValid($0) == ((65_536 + $0) % 3 != 0) })
        guard case .dictionary(let indexes, let dictionary)? = batches.last?.columns.last?.data else {
            Issue.record("no dictionary")
            return
        }
        #expect(dictionary.count == 2, "texts of other bytes stay apart")
        #expect(indexes.prefix(4) == [0, 1, 0, 1])
    }
}
