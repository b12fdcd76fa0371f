import MeshLedger
import MeshTables
import ViewQuery

extension ExportCommand {
    /// Positions in a format for maps.
    func exportPlaces(_ ledger: Ledger, _ node: UInt32?, _ query: RowQuery) throws {
        let columns = try ledger.columns(PositionRow.self)
        let asked = try GenericCell.columns(columns, and: conditions.map(\.column), of: PositionRow.self, in: ledger)
        // Refused before anything is written.
        let chosen = try rows(asked, ledger)
        func each(_ write: (PositionRow) -> Void) throws {
            try PositionRow.visit(in: ledger, of: node, query) { reduced($0).forEach { if chosen.takes($0) { write($0) } } }
            try chosen.end()
        }
        switch format {
        case .gpx:
            let writer = GPXWriter(try output(), names: try NodeNames(ledger))
            try each { writer.write($0) }
            writer.finish()
        case .kml:
            let writer = KMLWriter(try output(), names: try NodeNames(ledger))
            try each { writer.write($0, columns) }
            writer.finish()
        default:
            let writer = GeoJSONWriter(try output())
            try each { $0.add(to: writer, columns) }
            writer.finish()
        }
    }

    /// Places and routes as GeoJSON: the page is one of the places and lines that are written.
    func exportMap<Row: ListedRow & MappedRow>(
        _ rows: Row.Type, _ ledger: Ledger, _ node: UInt32?, _ query: RowQuery
    ) throws {
        let columns = try ledger.columns(Row.self)
        let asked = try GenericCell.columns(columns, and: conditions.map(\.column), of: Row.self, in: ledger)
        let tests = try RowTests(conditions, asked, in: ledger)
        var found: [Row] = []
        try Row.visit(in: ledger, of: node, query) { found += reduced($0) }
        if found.isEmpty, let unknown = try unknown(in: ledger) { throw unknown }
        let writer = GeoJSONWriter(try output(), page: page.range)
        let isOfImport = hasTimes ? columns.time()?.isOfImport : nil
        for row in found where tests.hold(row) && !writer.isFull && !(isOfImport?(row) ?? false) {
            row.add(to: writer, columns)
        }
        try tests.check()
        writer.finish()
    }
}
