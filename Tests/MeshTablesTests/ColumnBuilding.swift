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

    @Test(arguments: [false, true]) func `a batch that somebody keeps is not changed by later ones`(_ isReusing: Bool) throws {
        let columns: [TableColumn<Row>] = [
            TableColumn("number", .optional { $0.number }), TableColumn("name", .name { $0.text }),
            TableColumn("text", .text { $0.text }),
        ]
        var kept: [ColumnBatch] = []
        let builder = BatchBuilder(columns, isReusing: isReusing) { batch in
            if batch.columns[0].isValid(1) { kept.append(batch) }
        }
        // The third batch is kept, too, after one that was not.
        for batch in 0..<3 as Range<UInt32> {
            for row in 0..<100 as Range<UInt32> {
                try builder.append(Row(number: batch == 1 ? nil : batch * 100 + row, text: "\(batch) \(row)"))
            }
            try builder.finish()
        }
        for (batch, number) in zip(kept, [0, 2] as [UInt32]) {
            guard case .uint32(let numbers) = batch.columns[0].data,
                case .dictionary(let indexes, let names) = batch.columns[1].data,
                case .bytes(let offsets, let bytes) = batch.columns[2].data
            else { return #expect(Bool(false), "other columns") }
            #expect(numbers == (0..<100).map { number * 100 + $0 })
            let wanted = (0..<100).map { "\(number) \($0)" }
            #expect(indexes.map { String(decoding: names.text(Int($0)), as: UTF8.self) } == wanted)
            #expect((0..<100).map { String(decoding: bytes[Int(offsets[$0])..<Int(offsets[$0 + 1])], as: UTF8.self) } == wanted)
        }
        #expect(kept.count == 2)
    }
}
