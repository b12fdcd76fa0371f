import MeshLedger
import MeshTables
import Meshtastic

/// Any row as an object of all its columns.
final class RowCells {
    private var objects: [String: (any ViewRow) -> CellValue] = [:]
    private var ofImport: [String: (any ViewRow) -> Bool] = [:]

    init(_ ledger: Ledger) throws {
        for name in ledger.rowNames {
            guard let type = ledger.rows(of: name) as? any (ShownRow & ViewRow).Type else { continue }
            try add(type, ledger)
        }
    }

    private func add<Row: ShownRow & ViewRow>(_ type: Row.Type, _ ledger: Ledger) throws {
        let columns = try ledger.columns(type)
        objects[type.kind] = { row in
            guard let row = row as? Row else { return .null }
            return .object(columns.map { CellMember(name: $0.name, value: $0.value(row)) })
        }
        guard let isOfImport = columns.time()?.isOfImport else { return }
        ofImport[type.kind] = { row in (row as? Row).map(isOfImport) ?? false }
    }

    /// Whether the row's time is only that of an import.
    func isOfImport(_ row: any ViewRow) -> Bool { ofImport[row.kind]?(row) ?? false }

    func object(_ row: any ViewRow) -> CellValue { objects[row.kind]?(row) ?? .null }

    /// For tables: the columns that a table of such rows has, as `name=value`.
    func summary(_ row: any ViewRow) -> String {
        guard case .object(let members) = object(row) else { return "" }
        let shown = members.filter { member in
            switch member.value {
            case .null, .list([]), .object([]): false
            default: !Self.unsaid.contains(member.name)
            }
        }
        return CellValue.object(shown).summary
    }

    /// Columns that the line already contains, and those for programs only.
    private static let unsaid: Set<String> = [
        "time", "node", "sequence", "time_source", "packet_id", "first_sequence", "sent_time", "fix_time", "older_recipe",
    ]
}
