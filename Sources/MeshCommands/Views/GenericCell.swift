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

    static func columns<Row>(of columns: [RowColumn<Row>]) -> [Column<Row>] {
        columns.map { column in
            Column(name(column.name), unit: unit(column.kind), canCut: column.valueType == String.self) {
                value(column.value(in: $0), column.kind)
            }
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
            return .text(NodeID.text(node))
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
