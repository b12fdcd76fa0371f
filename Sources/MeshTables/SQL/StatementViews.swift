internal import CSQLiteExtension

/// Which views each statement of a connection may read: those that SQLite asked about while it prepared the statement.
///
/// SQLite does not say for which statement it asks. So all statements that were prepared since the last look are taken to read all of these views.
@safe struct StatementViews {
    @safe private struct Known {
        /// Another statement may get the address of one that is gone.
        var text: String
        var views: Set<String>
    }

    private var known: [UInt: Known] = [:]
    private var asked: Set<String> = []

    mutating func ask(_ view: String) { asked.insert(view) }

    /// - Parameter statements: their addresses.
    @unsafe mutating func read(by statements: [UInt], on connection: OpaquePointer) -> Set<String> {
        if !asked.isEmpty { unsafe look(at: connection) }
        var views: Set<String> = []
        for statement in statements {
            let its = known[statement]?.views ?? []
            if views.isEmpty { views = its } else { views.formUnion(its) }
        }
        return views
    }

    @unsafe private mutating func look(at connection: OpaquePointer) {
        let before = known
        known = [:]
        var next = unsafe sql_next_statement(connection, nil)
        while let statement = unsafe next {
            let text = unsafe sql_statement_text(statement).map { unsafe String(cString: $0) } ?? ""
            let address = UInt(bitPattern: statement)
            let same = before[address].flatMap { $0.text == text ? $0.views : nil } ?? []
            known[address] = Known(text: text, views: same.union(asked))
            unsafe next = sql_next_statement(connection, statement)
        }
        asked = []
    }
}
