import EventLog
import Foundation
import MeshLedger
import MeshTables
import Meshtastic
import ProtobufWire
import ViewQuery

/// Values of which only the kind is known, in the form that commands print.
enum GenericCell {
    /// How the properties of rows are printed.
    /// - Parameter isRaw: enumerations of Meshtastic as numbers, as they are stored.
    static func columns<Row: QueryRow>(_ rows: Row.Type, isRaw: Bool = false) -> [Column<Row>] {
        zip(Row.columns, GenericTable.columns(Row.self)).map { declared, table in
            let column = Column(table, ShownColumn(table.name, canCut: declared.valueType == String.self))
            guard !isRaw, let names = names(declared.name, of: Row.self) else { return column }
            var named = column.named(names)
            named.value = { row in
                guard case .unsigned(let number) = column.value(row) else { return column.value(row) }
                return .text((try? names.name(for: String(number), of: "")) ?? String(number))  // a number has no other name
            }
            return named
        }
    }

    /// The names of a number of a built-in row; nil where it is only a number.
    static func names<Row>(_ column: String, of row: Row.Type) -> KnownNames? {
        guard row is any ShownRow.Type else { return nil }
        switch plain(column) {
        case "role": return .enumeration("Config.DeviceConfig.Role")
        case "hardwaremodel": return .enumeration("HardwareModel")
        case "model" where row is HardwareRow.Type: return .enumeration("HardwareModel")
        case "region": return .enumeration("Config.LoRaConfig.RegionCode")
        case "modempreset": return .enumeration("Config.LoRaConfig.ModemPreset")
        case "failurereason": return .enumeration("Routing.Error")
        case "port": return .ports
        default: return nil
        }
    }

    /// What lists and exports have of a row; nil for a row that has no list.
    static func shownColumns<Row>(_ row: Row.Type, in ledger: Ledger) throws -> [Column<Row>]? {
        func shown<Shown: ShownRow>(_ row: Shown.Type) throws -> [Column<Row>]? { try ledger.columns(row) as? [Column<Row>] }
        return try (row as? any ShownRow.Type).flatMap { try shown($0) }
    }

    /// Columns of lists that the rows do not have themselves, as far as they are named.
    static func furtherColumns<Row>(_ row: Row.Type, in ledger: Ledger, named names: [String]) throws -> [Column<Row>] {
        let wanted = Set(names.map(plain))
        guard !wanted.isEmpty else { return [] }
        func found<Shown: ShownRow>(_ row: Shown.Type) throws -> [Column<Row>]? {
            try Shown.further(in: ledger) { wanted.contains(plain($0)) } as? [Column<Row>]
        }
        return (try (row as? any ShownRow.Type).flatMap { try found($0) } ?? []).map(\.onRequest)
    }

    /// The columns, and those that are named of the others that lists have; if a name is of none, all of them, since the error lists what there is.
    static func columns<Row>(
        _ columns: [Column<Row>], and names: [String], of row: Row.Type, in ledger: Ledger
    ) throws -> [Column<Row>] {
        let asked = columns + (try furtherColumns(row, in: ledger, named: names))
        func isKnown(_ name: String) -> Bool { (try? asked.named(name) as Column<Row>) != nil }  // the caller refuses it
        guard !names.allSatisfy(isKnown) else { return asked }
        func all<Shown: ShownRow>(_ row: Shown.Type) throws -> [Column<Row>]? {
            try Shown.further(in: ledger) { _ in true } as? [Column<Row>]
        }
        let known = Set(asked.map(\.name))
        return asked + (try (row as? any ShownRow.Type).flatMap { try all($0) } ?? []).filter { !known.contains($0.name) }
    }

    /// Those of lists and exports, then all other properties.
    static func allColumns<Row: QueryRow>(_ row: Row.Type, in ledger: Ledger) throws -> [Column<Row>] {
        let shown = try shownColumns(row, in: ledger) ?? []
        let known = Set(shown.map { plain($0.name) })
        return (shown + columns(row).filter { !known.contains(plain($0.name)) }).map { column in
            var column = column
            column.isDetail = false
            return column
        }
    }

    /// Ignores case and underscores, so that both spellings of a column's name match.
    static func plain(_ column: String) -> String { column.replacing("_", with: "").lowercased() }
}
