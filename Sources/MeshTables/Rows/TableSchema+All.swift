public import MeshLedger

extension TableSchema {
    /// The schemas of all tables: those of the ledger's views, including custom ones, and of the log.
    public static func all(in ledger: Ledger, _ context: TableContext = TableContext()) -> [TableSchema] {
        let views = ledger.rowNames.compactMap { ledger.rows(of: $0) }.map { of($0, context) }
        return views + [
            EventRecord.tableSchema(context), PacketRow.tableSchema(context), ReceptionRecord.tableSchema(context),
            IndexedEvent.tableSchema(context), QuarantineRow.tableSchema(context),
        ]
    }

    /// The schema of any view's rows.
    public static func of<Row: QueryRow>(_ rows: Row.Type, _ context: TableContext = TableContext()) -> TableSchema {
        if let rows = rows as? any TableRow.Type { return rows.tableSchema(context) }
        return GenericTable.schema(rows)
    }
}

extension TableColumn where Row: QueryRow {
    /// The columns of the rows of any view.
    public static func all(_ context: TableContext) -> [TableColumn<Row>] {
        func known<Known: TableRow>(_ rows: Known.Type) -> [TableColumn<Row>]? {
            rows.tableColumns(context) as? [TableColumn<Row>]
        }
        return (Row.self as? any TableRow.Type).flatMap { known($0) } ?? GenericTable.columns(Row.self)
    }
}
