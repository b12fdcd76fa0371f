import Testing

@testable import MeshTables

@Suite struct ColumnBuilding {
    private struct Row {
        var number: UInt32?
        var text: String
    }

    @Test func `numbers that signed columns lack are null in them, and others stay`() {
        let column = ColumnArray(count: 4, nullCount: 1, validity: [0b1011], data: .uint64([1, 1 << 63, 0, .max >> 1]))
        let signed = column.withoutUnsignedBeyondSigned
        #expect(signed.nullCount == 2 && (0..<4).map(signed.isValid) == [true, false, false, true])
        let whole = ColumnArray(count: 2, nullCount: 0, validity: [], data: .uint64([.max, 7])).withoutUnsignedBeyondSigned
        #expect(whole.nullCount == 1 && !whole.isValid(0) && whole.isValid(1))
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
