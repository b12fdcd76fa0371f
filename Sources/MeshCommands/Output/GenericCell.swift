import EventLog
import Foundation
import MeshLedger
import Meshtastic
import ProtobufWire
import ViewQuery

/// Values of which only the kind is known, in the form that commands print.
enum GenericCell {
    /// How the properties of rows are printed.
    static func columns<Row: QueryRow>(_ rows: Row.Type) -> [Column<Row>] { columns(of: Row.columns) }

    /// - Parameter isRaw: enumerations of Meshtastic as numbers, as they are stored.
    static func columns<Row>(of columns: [RowColumn<Row>], isRaw: Bool = false) -> [Column<Row>] {
        columns.map { column in
            let names = isRaw ? nil : names(column.name, of: Row.self)
            return Column(name(column.name), unit: unit(column.kind), canCut: column.valueType == String.self) { row in
                let cell = value(column.value(in: row), column.kind)
                guard let names, case .unsigned(let number) = cell else { return cell }
                return .text((try? names.name(for: String(number), of: "")) ?? String(number))  // a number has no other name
            }.named(names)
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
        if let columns = ChannelRow.columns as? [Column<Row>] { return columns }
        return try (row as? any ShownRow.Type).flatMap { try shown($0) }
    }

    /// Columns of lists that the rows do not have themselves: the metrics of telemetry that are named, and what nodes reported last.
    static func furtherColumns<Row>(_ row: Row.Type, in ledger: Ledger, named names: [String]) throws -> [Column<Row>] {
        let wanted = Set(names.map(plain))
        guard !wanted.isEmpty else { return [] }
        if row is TelemetryRow.Type { return TelemetryRow.metrics { wanted.contains(plain($0)) } as? [Column<Row>] ?? [] }
        return row is NodeRow.Type ? try ReportedNode.lookups(in: ledger) as? [Column<Row>] ?? [] : []
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

    /// `latitudeE7` as `latitude_e7`, as columns are called in JSON and CSV.
    static func name(_ column: String) -> String {
        var name = ""
        var wasSmall = false
        for character in column {
            if character.isUppercase, wasSmall { name += "_" }
            wasSmall = character.isLowercase
            name += character.lowercased()
        }
        return name
    }

    /// Ignores case and underscores, so that both spellings of a column's name match.
    static func plain(_ column: String) -> String { column.replacing("_", with: "").lowercased() }

    static func unit(_ kind: ColumnKind) -> String? {
        switch kind {
        case .decibels: "dB"
        case .dBm: "dBm"
        case .meters: "m"
        case .seconds: "s"
        case .percent: "%"
        case .degreesE5: "°"
        case .plain, .node, .time, .degreesE7, .hundredths, .bytes: nil
        }
    }

    static func value(_ value: Any, _ kind: ColumnKind) -> CellValue {
        switch value {
        case let optional as any AnyOptional: return optional.wrapped.map { Self.value($0, kind) } ?? .null
        case let number as any BinaryInteger: return integer(number, kind)
        case let bool as Bool: return .bool(bool)
        case let float as Float: return .float(float)
        case let double as Double: return .double(double)
        case let text as String: return .optional(text)
        case let date as Date: return date == .distantPast ? .null : .instant(Timestamp(microseconds: microseconds(date)))
        case let bytes as [UInt8]: return hexadecimal(bytes)
        case let data as Data: return hexadecimal(Array(data))
        case let list as [Any]: return .list(list.map { Self.value($0, kind) })
        default: return structure(value)
        }
    }

    private static func microseconds(_ date: Date) -> Int64 {
        Int64(exactly: (date.timeIntervalSince1970 * 1e6).rounded()) ?? 0
    }

    private static func hexadecimal(_ bytes: [UInt8]) -> CellValue {
        .optional(Hexadecimal.text(bytes))
    }

    private static func integer(_ number: any BinaryInteger, _ kind: ColumnKind) -> CellValue {
        switch kind {
        case .node:
            guard let node = UInt32(exactly: number), node != 0 else { return .null }
            return PacketCell.node(node)
        case .time: return .time(UInt32(clamping: number))
        case .degreesE7: return .double(Double(Int64(clamping: number)) / 1e7)
        case .degreesE5: return .optional(Position.course(groundTrack: UInt32(clamping: number)))
        case .hundredths: return .optional(Position.dilution(hundredths: UInt32(clamping: number)))
        default: return UInt64(exactly: number).map { .unsigned($0) } ?? .integer(Int64(clamping: number))
        }
    }

    private static func structure(_ value: Any) -> CellValue {
        let mirror = Mirror(reflecting: value)
        guard mirror.displayStyle == .struct || mirror.displayStyle == .tuple else { return .text("\(value)") }
        return .object(
            mirror.children.map { CellMember(name: name($0.label ?? ""), value: Self.value($0.value, .plain)) })
    }
}

/// An optional of any type.
private protocol AnyOptional {
    var wrapped: Any? { get }
}

extension Optional: AnyOptional {
    fileprivate var wrapped: Any? { self }
}
