import MeshLedger
import MeshViews
import Testing

@testable import ViewQuery

struct KeysOfRows {
    /// The names of the columns of a row's key that are fractions.
    private func fractions<Row: QueryRow>(in row: Row.Type) -> [String] {
        row.columns.filter { column in
            let type = Swift.type(of: column.keyPath).valueType
            return column.isKey && (type is any BinaryFloatingPoint.Type)
        }.map { "\(row.table).\($0.name)" }
    }

    @Test func `S15: no key of a row has a fraction in it`() {
        #expect(ViewRegistry.rows.flatMap { fractions(in: $0) } == [])
        #expect(PositionRow.columns.contains { $0.name == "latitudeE7" && type(of: $0.keyPath).valueType == Int32.self })
    }
}
