import MeshLedger
import Testing
import ViewQuery

@testable import MeshTables

@Suite struct DeclaredColumns {
    @Test func `what a row's declaration gives to tables is a column of its table, once, with its unit and meaning`() {
        func check<Row: TableRow & QueryRow>(_ row: Row.Type) {
            let table = Row.tableSchema().columns
            #expect(Set(table.map(\.name)).count == table.count, "\(row)")
            for property in Row.columns {
                guard let form = property.tableForm else { continue }
                let column = table.first { $0.name == property.name.snakeCased }
                #expect(
                    column?.meaning == form.meaning && column?.unit == form.unit ?? GenericTable.unit(property.kind),
                    "\(row).\(property.name)")
            }
        }
        let rows = ViewRegistry.rows.compactMap { $0 as? any (TableRow & QueryRow).Type }
        #expect(rows.count == 16)
        for row in rows { check(row) }
    }
}
