import MeshLedger
import MeshTables
import Projections
import ProtobufWire
import Synchronization
import ViewQuery

/// A row that differs in a rebuilt view or in another ledger, ready to be printed.
struct DifferentRow: Sendable {
    let sign: String
    let table: String
    let key: CellValue
    /// The columns that differ; all columns for a row that only one side has.
    let columns: [(name: String, before: CellValue, after: CellValue)]

    init(_ difference: RowDifference, of rows: (any QueryRow.Type)?) {
        sign = difference.old == nil ? "+" : difference.new == nil ? "-" : "~"
        table = difference.table
        (key, columns) = rows.map { Self.parts(difference, $0) } ?? (.text(Hexadecimal.text(difference.key)), [])
    }

    init?<Row: QueryRow>(_ old: Row?, _ new: Row?, _ compared: ComparedColumns<Row>) {
        guard let row = new ?? old else { return nil }
        sign = old == nil ? "+" : new == nil ? "-" : "~"
        table = Row.table
        key = .object(compared.keys.map { CellMember(name: $0.name, value: $0.cell(row)) })
        columns = compared.values.compactMap { column in
            let (before, after) = (old.map(column.cell) ?? .null, new.map(column.cell) ?? .null)
            return before.plain == after.plain ? nil : (column.name, before, after)
        }
    }

    private static func parts<Row: QueryRow>(
        _ difference: RowDifference, _ rows: Row.Type
    ) -> (CellValue, [(name: String, before: CellValue, after: CellValue)]) {
        let (key, nothing) = (difference.key, [UInt8]())
        let (oldValue, newValue) = (difference.old ?? nothing, difference.new ?? nothing)
        let old = difference.old == nil ? nil : Row(key: key.rawSpan, value: oldValue.rawSpan)
        let new = difference.new == nil ? nil : Row(key: key.rawSpan, value: newValue.rawSpan)
        return DifferentRow(old, new, ComparedColumns()).map { ($0.key, $0.columns) } ?? (.text(Hexadecimal.text(key)), [])
    }

    static var columns: [Column<DifferentRow>] {
        [
            Column("change", heading: "") { .text($0.sign) },
            Column("view") { .text($0.table) },
            Column("key", shown: { shown($0.key) }) { $0.key },
            Column(
                "columns", isText: true, shown: { row in row.columns.map { Self.shown($0, row.sign) }.joined(separator: ", ") }
            ) {
                .object(
                    $0.columns.map {
                        CellMember(
                            name: $0.name,
                            value: .object([
                                CellMember(name: "before", value: $0.before), CellMember(name: "after", value: $0.after),
                            ]))
                    })
            },
        ]
    }

    private static func shown(_ key: CellValue) -> String {
        guard case .object(let members) = key else { return key.plain }
        return members.map { "\($0.name)=\($0.value.plain)" }.joined(separator: " ")
    }

    private static func shown(_ column: (name: String, before: CellValue, after: CellValue), _ sign: String) -> String {
        switch sign {
        case "+": "\(column.name) \(column.after.summary)"
        case "-": "\(column.name) \(column.before.summary)"
        default: "\(column.name) \(column.before.summary) → \(column.after.summary)"
        }
    }
}

/// The columns of a table that are compared, with their names as they are printed.
struct ComparedColumns<Row: QueryRow> {
    struct Named {
        let name: String
        let cell: (Row) -> CellValue
    }

    let all: [Named]
    let keys: [Named]
    let values: [Named]

    /// All that is stored.
    init() {
        self.init(
            Row.columns.map { column in Named(name: column.name.snakeCased) { CellValue(of: column.value(in: $0), column.kind) } }
        )
    }

    /// Those of the row's list; of a row that no list has, all that is stored.
    /// - Parameter ignored: the properties to ignore.
    init(ofListsWithout ignored: Set<String>) {
        func listed<Shown: ShownRow>(_ row: Shown.Type) -> [TableColumn<Row>]? {
            Shown.tableColumns(TableContext()) as? [TableColumn<Row>]
        }
        let columns = (Row.self as? any ShownRow.Type).flatMap { listed($0) }
        // What depends on more than the row, as the name of its sender does, is no difference between rows.
        let all = columns?.filter { !$0.isContextual }.map { Named(name: $0.name, cell: $0.cell) } ?? ComparedColumns().all
        let ignored = Set(ignored.map(GenericCell.plain))
        self.init(all.filter { !ignored.contains(GenericCell.plain($0.name)) })
    }

    private init(_ all: [Named]) {
        self.all = all
        var names = Set(Row.columns.filter(\.isKey).map { GenericCell.plain($0.name) })
        if Row.self is NodeRow.Type, all.contains(where: { $0.name == "node" }) { names = ["node"] }
        func isKey(_ column: Named) -> Bool { names.contains(GenericCell.plain(column.name)) }
        values = all.filter { !isKey($0) }
        // Rows whose key is a hash of their first column are identified by that column.
        let keys = all.filter(isKey)
        self.keys = keys.isEmpty ? Array(all.prefix(1)) : keys
    }
}

/// Prints rows that arrive on the thread of a view.
///
/// Synchronization: the mutex.
final class RowPrinter<Row: Sendable>: Sendable {
    private let writer: Mutex<RowWriter<Row>>

    init(_ writer: sending RowWriter<Row>) { self.writer = Mutex(writer) }

    func write(_ row: Row) { writer.withLock { $0.write(row) } }
    func finish(emptyNote: String) { writer.withLock { $0.finish(emptyNote: emptyNote) } }
}
