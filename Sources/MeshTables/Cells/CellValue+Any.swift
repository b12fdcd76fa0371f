import EventLog
import Foundation
package import MeshLedger
import ProtobufWire

extension CellValue {
    /// The value of a property of which only the kind is known; enumerations of Meshtastic stay numbers.
    package init(of value: Any, _ kind: ColumnKind) { self = Self.cell(value, kind) }

    private static func cell(_ value: Any, _ kind: ColumnKind) -> CellValue {
        switch value {
        case let optional as any AnyOptional: return optional.wrapped.map { cell($0, kind) } ?? .null
        case let number as any BinaryInteger: return integer(number, kind)
        case let bool as Bool: return .bool(bool)
        case let float as Float: return .float(float)
        case let double as Double: return .double(double)
        case let text as String: return .optional(text)
        case let date as Date: return microseconds(date).map { .instant(Timestamp(microseconds: $0)) } ?? .null
        case let bytes as [UInt8]: return .optional(Hexadecimal.text(bytes))
        case let data as Data: return .optional(Hexadecimal.text(data))
        case let list as [Any]: return .list(list.map { cell($0, kind) })
        default: return structure(value)
        }
    }

    /// Nil for the date that stands for none.
    static func microseconds(_ date: Date) -> Int64? {
        date == .distantPast ? nil : Int64(exactly: (date.timeIntervalSince1970 * 1e6).rounded()) ?? 0
    }

    private static func integer(_ number: any BinaryInteger, _ kind: ColumnKind) -> CellValue {
        switch kind {
        case .node:
            guard let node = UInt32(exactly: number), node != 0 else { return .null }
            return .text(NodeID.addressee(node))
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
            mirror.children.map { CellMember(name: ($0.label ?? "").snakeCased, value: cell($0.value, .plain)) })
    }
}

/// An optional of any type.
private protocol AnyOptional {
    var wrapped: Any? { get }
}

extension Optional: AnyOptional {
    fileprivate var wrapped: Any? { self }
}
