import CSQLite
public import MeshLedger
import MeshSimulator
package import MeshTables
import TestKit

/// Runs random SQL over the virtual tables of a simulated mesh and over plain tables that hold the same rows.
///
/// Synchronization: none; it is used by one thread at a time.
public final class SQLProofs {
    public let ledger: Ledger
    private let database: TestDatabase
    /// By name: the columns.
    public private(set) var tables: [(name: String, columns: [String], rows: Int)] = []

    /// - Parameter isRecorded: whether packets were heard when the simulation says; else when they are appended, all at one time.
    public init(packets: Int, seed: UInt64, isRecorded: Bool = false) async throws {
        ledger = try await Ledger.temporary(options: LedgerOptions(log: EventLogOptions(isDurable: false)))
        let source = try await ledger.log.source(named: "simulated")
        var simulation = MeshSimulation(SimulationOptions(seed: seed, nodes: 12))
        var batch = EventBatch()
        for _ in 0..<packets {
            let heard = simulation.next()
            batch.append(
                NewEvent(
                    heard.envelope, encoding: .serviceEnvelope, source: source,
                    reception: isRecorded ? .recorded(Timestamp(seconds: Int64(heard.time))) : .live))
        }
        try await ledger.log.append(batch)
        try await ledger.catchUp()
        database = try TestDatabase(ledger)
        for name in SQLTables.names(in: ledger) {
            try database.execute("CREATE TABLE main.\"plain_\(name)\" AS SELECT * FROM temp.\"\(name)\"")
            let columns = try database.rows("SELECT name FROM pragma_table_info('plain_\(name)')").compactMap { row -> String? in
                if case .text(let text)? = row.first { text } else { nil }
            }
            guard case .integer(let count)? = try database.rows("SELECT count(*) FROM \"plain_\(name)\"").first?.first else {
                continue
            }
            if count > 0 { tables.append((name, columns, Int(count))) }
        }
    }

    /// Runs the queries of these numbers.
    /// - Returns: a text for each that failed, with its number.
    public func run(_ numbers: Range<UInt64>, seed: UInt64) -> [String] {
        var failures: [String] = []
        for number in numbers {
            var random = SeededGenerator(seed: seed &+ number &* 0x9e37_79b9)
            do {
                if let difference = try compare(&random) { failures.append("query \(number) of seed \(seed): \(difference)") }
            } catch {
                failures.append("query \(number) of seed \(seed): \(error)")
            }
            if failures.count >= 20 { break }
        }
        return failures
    }

    /// The rows of any statement.
    package func rows(_ text: String, _ values: [SQLValue] = []) throws -> [[SQLValue]] { try database.rows(text, values) }

    private func compare(_ random: inout SeededGenerator) throws -> String? {
        var maker = SQLMaker(database, tables, random)
        let query = try maker.query()
        random = maker.random
        let (virtual, plain) = (query.text(prefix: "temp.\""), query.text(prefix: "main.\"plain_"))
        let (found, expected) = (try database.rows(virtual), try database.rows(plain))
        let isSame = query.isTotal ? found == expected : found.map(\.key).sorted() == expected.map(\.key).sorted()
        let keys = query.orderedColumns
        let isOrdered = found.map { Array($0.prefix(keys)) } == expected.map { Array($0.prefix(keys)) }
        guard !isSame || !isOrdered else { return nil }
        let plan = (try? database.rows("EXPLAIN QUERY PLAN " + virtual).map(\.key).joined(separator: "; ")) ?? ""
        return "\(found.count) rows instead of \(expected.count)\(isOrdered ? "" : ", in another order"): \(virtual) [\(plan)]"
    }
}

/// A query with the tables left open.
struct MadeQuery {
    /// Table names are between two zero characters.
    var template: String
    /// So many of the first columns are those that it is ordered by.
    var orderedColumns = 0
    /// Whether the order leaves nothing open.
    var isTotal = false

    func text(prefix: String) -> String {
        template.split(separator: "\0", omittingEmptySubsequences: false).enumerated()
            .map { $0 % 2 == 0 ? String($1) : prefix + $1 + "\"" }.joined()
    }
}

/// Makes random queries whose constants are values that the tables have, and values near them.
struct SQLMaker {
    private let database: TestDatabase
    private let tables: [(name: String, columns: [String], rows: Int)]
    var random: SeededGenerator

    init(_ database: TestDatabase, _ tables: [(name: String, columns: [String], rows: Int)], _ random: SeededGenerator) {
        (self.database, self.tables, self.random) = (database, tables, random)
    }

    private mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &random) < percent }
    private mutating func any<Value>(_ values: [Value]) -> Value { values[Int.random(in: 0..<values.count, using: &random)] }

    /// Columns by which rows are found come more often.
    private mutating func column(of table: (name: String, columns: [String], rows: Int)) -> String {
        let keys = table.columns.filter {
            [
                "node", "number", "time", "sequence", "kind", "from", "id", "hearer", "heard", "gateway", "last_heard",
                "first_sequence", "long_name", "arrival", "port", "channel", "to",
            ]
            .contains($0)
        }
        return keys.isEmpty || chance(40) ? any(table.columns) : any(keys)
    }

    private static func quoted(_ name: String) -> String { "\"" + name.replacing("\"", with: "\"\"") + "\"" }

    mutating func query() throws -> MadeQuery {
        let table = any(tables)
        switch Int.random(in: 0..<10, using: &random) {
        case 0..<6: return try plain(table)
        case 6..<8: return try grouped(table)
        default: return try joined()
        }
    }

    private mutating func plain(_ table: (name: String, columns: [String], rows: Int)) throws -> MadeQuery {
        var order: [String] = []
        let isDescending = chance(50)
        if chance(70) {
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let column = column(of: table)
                if !order.contains(column) { order.append(column) }
            }
        }
        let isTotal = !order.isEmpty && chance(60)
        let rest = isTotal ? table.columns : (0..<Int.random(in: 1...4, using: &random)).map { _ in any(table.columns) }
        let mixed = chance(20)
        let terms = (order + (isTotal ? table.columns.filter { !order.contains($0) } : [])).enumerated().map { place, name in
            Self.quoted(name) + ((mixed && place == 1) != isDescending ? " DESC" : "")
        }
        let columns = (order + rest).map(Self.quoted).joined(separator: ", ")
        var text = "SELECT \(columns) FROM \0\(table.name)\0\(try conditions(table))"
        if !terms.isEmpty { text += " ORDER BY " + terms.joined(separator: ", ") }
        if isTotal, chance(70) {
            text += " LIMIT \(any([0, 1, 2, 5, 20, 100, -1]))"
            if chance(40) { text += " OFFSET \(any([0, 1, 3, 50, -1]))" }
        }
        return MadeQuery(template: text, orderedColumns: order.count, isTotal: isTotal)
    }

    private mutating func grouped(_ table: (name: String, columns: [String], rows: Int)) throws -> MadeQuery {
        let (group, measured) = (Self.quoted(column(of: table)), Self.quoted(any(table.columns)))
        let sum = any([
            "count(\(measured))", "min(\(measured))", "max(\(measured))", "count(DISTINCT \(measured))",
            "typeof(max(\(measured)))",
        ])
        let condition = try conditions(table)
        switch Int.random(in: 0..<3, using: &random) {
        case 0: return MadeQuery(template: "SELECT count(*), \(sum) FROM \0\(table.name)\0\(condition)", isTotal: true)
        case 1: return MadeQuery(template: "SELECT DISTINCT \(group) FROM \0\(table.name)\0\(condition)")
        default:
            return MadeQuery(
                template:
                    "SELECT \(group), count(*), \(sum) FROM \0\(table.name)\0\(condition) GROUP BY \(group)"
                    + (chance(40) ? " HAVING count(*) > 1" : "")
                    + (chance(50) ? " ORDER BY \(group) \(any(["ASC", "DESC"]))" : ""))
        }
    }

    private mutating func joined() throws -> MadeQuery {
        func nodeColumn(_ table: (name: String, columns: [String], rows: Int)) -> String? {
            ["node", "from", "gateway", "hearer"].first(where: table.columns.contains)
        }
        let having = tables.filter { nodeColumn($0) != nil && $0.rows < 400 }
        let (left, right) = (any(having), any(having))
        guard let leftNode = nodeColumn(left), let rightNode = nodeColumn(right) else { return try plain(left) }
        let kind = any(["JOIN", "LEFT JOIN", "JOIN", "CROSS JOIN"])
        let other = any(right.columns)
        let bound = try condition(right, prefix: "b.")
        let on =
            chance(70)
            ? "a.\(Self.quoted(leftNode)) = b.\(Self.quoted(rightNode))"
            : "b.\(Self.quoted(rightNode)) IN (a.\(Self.quoted(leftNode)), '!00000001')"
        return MadeQuery(
            template:
                "SELECT count(*), count(b.\(Self.quoted(other))), min(a.\(Self.quoted(any(left.columns)))) FROM \0\(left.name)\0 a \(kind) \0\(right.name)\0 b "
                + "ON \(on)\(chance(60) ? " AND \(bound)" : "") WHERE \(try condition(left, prefix: "a."))", isTotal: true)
    }

    private mutating func conditions(_ table: (name: String, columns: [String], rows: Int)) throws -> String {
        let count = Int.random(in: 0...3, using: &random)
        guard count > 0 else { return "" }
        var text = " WHERE "
        for place in 0..<count {
            if place > 0 { text += chance(70) ? " AND " : " OR " }
            text += try condition(table)
        }
        return text
    }

    private mutating func condition(_ table: (name: String, columns: [String], rows: Int), prefix: String = "") throws -> String {
        let name = column(of: table)
        let column = prefix + Self.quoted(name)
        switch Int.random(in: 0..<12, using: &random) {
        case 0..<4: return "\(column) = \(try constant(table, name))"
        case 4: return "\(try constant(table, name)) \(any(["<", "<=", ">", ">=", "="])) \(column)"
        case 5..<8: return "\(column) \(any(["<", "<=", ">", ">="])) \(try constant(table, name))"
        case 8:
            var values: [String] = []
            for _ in 0..<Int.random(in: 1...5, using: &random) { values.append(try constant(table, name)) }
            return "\(column) \(chance(15) ? "NOT IN" : "IN") (\(values.joined(separator: ", ")))"
        case 9: return "\(column) BETWEEN \(try constant(table, name)) AND \(try constant(table, name))"
        case 10:
            return
                "\(column) \(any(["IS NULL", "IS NOT NULL", "IS \(try constant(table, name))", "<> \(try constant(table, name))"]))"
        default:
            return "NOT \(column) \(any(["=", "<", "LIKE"])) \(try constant(table, name))\(chance(20) ? " COLLATE NOCASE" : "")"
        }
    }

    /// A value that the column has, one near it, or one of another type.
    private mutating func constant(_ table: (name: String, columns: [String], rows: Int), _ column: String) throws -> String {
        let row = Int.random(in: 0..<table.rows, using: &random)
        let found = try database.rows(
            "SELECT quote(\(Self.quoted(column))), typeof(\(Self.quoted(column))) FROM \"plain_\(table.name)\" LIMIT 1 OFFSET \(row)"
        )
        guard case .text(let value)? = found.first?.first, case .text(let type)? = found.first?.last else { return "NULL" }
        guard chance(35) else { return value }
        if chance(10) {
            return any([
                "NULL", "''", "x'00'", "-1", "9e999", "-9e999", "9223372036854775807", "-9223372036854775808", "'x'", "0.5",
                "18446744073709551615",
            ])
        }
        switch type {
        case "integer", "real":
            return any([
                "\(value) + 1", "\(value) - 1", "\(value) + 0.5", "'\(value)'", "' \(value)'", "\(value) * 1.0",
                "CAST(\(value) AS TEXT)",
            ])
        case "text": return any(["upper(\(value))", "\(value) || 'x'", "substr(\(value), 1, 3)", "CAST(\(value) AS BLOB)", "1"])
        default: return value
        }
    }
}

/// A connection of which tests see everything.
@safe final class TestDatabase {
    @unsafe private let pointer: OpaquePointer
    private let connection: SQLConnection

    init(_ ledger: Ledger) throws {
        unsafe sqlite3_auto_extension(SQLConnection.takesFunctions)
        var opened: OpaquePointer?
        guard unsafe sqlite3_open(":memory:", &opened) == SQLITE_OK, let opened = unsafe opened else {
            throw SQLError("no SQLite")
        }
        unsafe pointer = opened
        connection = unsafe try SQLConnection(opened, ledger, LedgerOpener())
    }

    deinit { unsafe sqlite3_close_v2(pointer) }

    func execute(_ text: String) throws {
        guard unsafe sqlite3_exec(pointer, text, nil, nil, nil) == SQLITE_OK else {
            throw SQLError(unsafe String(cString: sqlite3_errmsg(pointer)) + ": " + text)
        }
    }

    func rows(_ text: String, _ values: [SQLValue] = []) throws -> [[SQLValue]] {
        var rows: [[SQLValue]] = []
        do {
            try connection.run(text, values) { _ in
            } row: { row in
                rows.append(row)
                return true
            } end: {
            }
        } catch {
            throw SQLError("\(error): \(text)")
        }
        return rows
    }
}

extension [SQLValue] {
    /// Tells rows apart.
    var key: String { map { "\($0)" }.joined(separator: "|") }
}
