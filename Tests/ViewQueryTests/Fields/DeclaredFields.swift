import ProtobufWire
import Testing

@testable import ViewQuery

/// Rows whose fields are read and written at their places, as the forms' closures would.
@Suite struct DeclaredFields {
    enum FromOne: UInt8, CaseIterable, Sendable {
        case first = 1
        case second = 2
        case third = 3
    }

    enum Sparse: UInt8, CaseIterable, Sendable {
        case small = 3
        case large = 200
    }

    struct Row: Sendable, Equatable {
        var consecutive = FromOne.second
        var sparse = Sparse.large
        var text = ""
        var list: [UInt32] = []
        var packed: [UInt32] = []
        var count: UInt32 = 0
        var height: Int32?
    }

    private static let declaration = RowDeclaration<Row>([
        RowColumn(1, "consecutive", \.consecutive, as: .enumeration(or: .third)),
        RowColumn(2, "sparse", \.sparse, as: .enumeration(or: .small)),
        RowColumn(3, "text", \.text, as: .text),
        RowColumn(4, "list", \.list, as: .repeatedFixed32),
        RowColumn(5, "packed", \.packed, as: .packedFixed32.unlessEmpty),
        RowColumn(6, "count", \.count, as: .varint.unlessZero),
        RowColumn(7, "height", \.height, as: .sint32),
    ])

    private func stored(_ row: Row) -> [UInt8] {
        var writer = WireWriter()
        Self.declaration.write(row, to: &writer)
        return writer.bytes
    }

    private func row(_ bytes: [UInt8]) throws -> Row {
        var row = Row()
        try Self.declaration.take(&row, from: bytes.rawSpan)
        return row
    }

    @Test func `every case, text and list comes back`() throws {
        for consecutive in FromOne.allCases {
            for sparse in Sparse.allCases {
                for text in ["", "text", String(repeating: "ü", count: 70_000)] {
                    let row = Row(
                        consecutive: consecutive, sparse: sparse, text: text, list: text.isEmpty ? [] : [1, .max],
                        packed: text.isEmpty ? [] : [7, 0, .max], count: UInt32(text.utf8.count), height: text.isEmpty ? nil : -3)
                    #expect(try self.row(stored(row)) == row)
                }
            }
        }
        // Field 1: consecutive 1; field 2: sparse 3; nothing else.
        #expect(stored(Row(consecutive: .first, sparse: .small)) == [0x08, 1, 0x10, 3])
    }

    @Test func `a number without a case is the declared other one`() throws {
        for number in UInt8.min...UInt8.max {
            var writer = WireWriter()
            writer.varint(1, UInt64(number))
            writer.varint(2, UInt64(number))
            let row = try row(writer.bytes)
            #expect(row.consecutive == FromOne(rawValue: number) ?? .third)
            #expect(row.sparse == Sparse(rawValue: number) ?? .small)
        }
    }

    @Test func `damaged lists are refused`() {
        var writer = WireWriter()
        writer.bytes(5, [1, 2, 3])
        #expect(throws: WireError.self) { try self.row(writer.bytes) }
    }
}
