internal import CSQLiteExtension
internal import EventLog
package import MeshLedger
internal import Meshtastic
internal import ViewQuery

/// The tables of a ledger in SQL.
package enum SQLTables {
    /// `CREATE VIRTUAL TABLE … USING meshledger(…)`.
    static let module = "meshledger"

    /// The names of all tables of a ledger.
    package static func names(in ledger: Ledger) -> [String] {
        ledger.rowNames + TelemetryKind.allCases.map(name) + [
            EventRecord.tableName, PacketRow.tableName, ReceptionRecord.tableName, IndexedEvent.tableName,
            QuarantineRow.tableName,
        ]
    }

    /// Names, types and units of the columns of all tables.
    package static func schemas(in ledger: Ledger) -> [TableSchema] {
        let context = TableContext(schemasOf: ledger)
        let kinds = TelemetryKind.allCases.map { kind in
            TableSchema(name: name(kind), columns: TelemetryRow.tableColumns(context, of: kind).map(\.schema))
        }
        return TableSchema.all(in: ledger, context) + kinds
    }

    /// A table such as `telemetry_air_quality`: telemetry of one kind, with a column for each metric.
    package static func name(_ kind: TelemetryKind) -> String { "telemetry_" + "\(kind)".snakeCased }

    /// - Parameter path: the ledger's path; nil for the connection's own ledger.
    static func make(_ name: String, path: String?, _ session: SQLSession) throws -> VirtualTable {
        switch name {
        case EventRecord.tableName: return EventTable(session, path: path)
        case PacketRow.tableName:
            let finders: [String: LogTable.Finder] = [
                "first_sequence": .sequence, "time": .heard, "arrival": .arrival, "from": .sender, "to": .addressee,
                "id": .packetID, "port": .port, "channel": .channel,
            ]
            return PacketTable<PacketRow>(session, path: path, finders, isOfPackets: true) {
                [$0]
            } number: {
                $0.firstSequence
            }
        case ReceptionRecord.tableName:
            let finders: [String: LogTable.Finder] = [
                "sequence": .sequence, "time": .heard, "arrival": .arrival, "from": .sender, "gateway": .gateway,
            ]
            return PacketTable<ReceptionRecord>(session, path: path, finders, isOfPackets: false) {
                ReceptionRecord.all(of: $0)
            } number: {
                $0.reception.sequence
            }
        case IndexedEvent.tableName:
            return ListedTable<IndexedEvent>(session, path: path, view: PacketRow.tableName, rowFinder: .sequence) {
                try $0.forEachIndexedEvent(in: EventSequence($1.lowerBound)...EventSequence($1.upperBound), $2)
            } number: {
                $0.sequence
            }
        case QuarantineRow.tableName:
            return ListedTable<QuarantineRow>(session, path: path, view: nil, rowFinder: nil) { ledger, range, take in
                _ = try ledger.maintenance.quarantine().allSatisfy { !range.contains($0.sequence) || take($0) }
            } number: { row in
                // Several views may have put the same event there.
                row.sequence << 20 | row.view.utf8.reduce(0) { ($0 &* 31 &+ UInt64($1)) & 0xf_ffff }
            }
        default: break
        }
        if let kind = TelemetryKind.allCases.first(where: { self.name($0) == name }) {
            return try ViewTable<TelemetryRow>(session, name: name, path: path, fixed: ["kind": .text("\(kind)")]) {
                TelemetryRow.tableColumns($0, of: kind)
            }
        }
        let ledger = try session.ledger(at: path)
        guard let rows = ledger.rows(of: name) else {
            let known = names(in: ledger).joined(separator: ", ")
            throw SQLFailure(description: "\(ledger.path) has no table \(name); it has \(known)")
        }
        func table<Row: QueryRow>(_ rows: Row.Type) throws -> VirtualTable {
            try ViewTable<Row>(session, name: name, path: path) { TableColumn.all($0) }
        }
        return try table(rows)
    }

    /// Registers the module and the functions with a connection, and creates the ledger's tables in its temporary schema.
    ///
    /// - Parameter ledger: the ledger whose tables are created; nil for none yet.
    @unsafe package static func install(
        on connection: OpaquePointer, _ ledger: Ledger?, _ opener: LedgerOpener = .shared
    ) throws -> SQLSession {
        let session = unsafe SQLSession(connection, ledger, opener)
        unsafe try TableModule.register(
            module, on: connection, isNamed: true,
            TableMaker { arguments in
                // The names of the module, the schema and the table, then the arguments in parentheses.
                let given = arguments.dropFirst(3).map(unquoted)
                guard let table = arguments.dropFirst(2).first, given.count <= 2 else {
                    throw SQLFailure(
                        description:
                            "USING meshledger('FOLDER', 'TABLE'); the default folder is $MESHLEDGER, the default table the one of the same name"
                    )
                }
                return try make(given.dropFirst().first ?? table, path: given.first.flatMap { $0.isEmpty ? nil : $0 }, session)
            })
        unsafe try SQLFunctions.register(on: connection, session)
        if let ledger { try createTables(of: ledger, path: nil, session) }
        return session
    }

    /// - Returns: the number of tables.
    @discardableResult
    static func createTables(of ledger: Ledger, path: String?, _ session: SQLSession) throws -> Int {
        let names = names(in: ledger)
        for name in names {
            let place = path.map { quotedText($0) } ?? "''"
            let text =
                "CREATE VIRTUAL TABLE IF NOT EXISTS temp.\(TableDeclaration.quoted(name)) USING meshledger(\(place), \(quotedText(name)))"
            guard unsafe sql_execute(session.connection, text) == SQLITE_OK else {
                let message = unsafe sql_message(session.connection).map { unsafe String(cString: $0) } ?? ""
                throw SQLFailure(description: "the table \(name) cannot be made: \(message)")
            }
        }
        return names.count
    }

    static func quotedText(_ text: String) -> String { "'" + text.replacing("'", with: "''") + "'" }

    private static func unquoted(_ argument: String) -> String {
        let text = argument.drop { $0 == " " }
        guard let quote = text.first, quote == "'" || quote == "\"", text.count >= 2, text.last == quote else {
            return String(text)
        }
        return String(text.dropFirst().dropLast()).replacing("\(quote)\(quote)", with: "\(quote)")
    }
}
