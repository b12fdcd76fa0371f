public import Foundation
public import ViewQuery

/// How many rows a view keeps. A row beyond the cap evicts the one that is lowest by the property, among equals the one with the lowest
/// key, at once and in the order of the log, so that the rows do not depend on when the view was flushed.
public struct RowCap<Row: StoredRow>: Sendable {
    let most: Int?
    /// The property of the key whose values have separate caps.
    package let group: (any PartialKeyPath<Row> & Sendable)?
    package let orderedBy: (any PartialKeyPath<Row> & Sendable)?
    let order: @Sendable (Row) -> UInt64

    /// This many rows.
    public static func total<Value: RowOrder>(_ most: Int, by property: any KeyPath<Row, Value> & Sendable) -> RowCap {
        let read = propertyReader(property)
        return RowCap(most: max(1, most), group: nil, orderedBy: property, order: { read($0).rowOrder })
    }

    /// This many rows for each value of `group`, the first property of the key.
    public static func each<Group: RowKey, Value: RowOrder>(
        _ group: any KeyPath<Row, Group> & Sendable, _ most: Int, by property: any KeyPath<Row, Value> & Sendable
    ) -> RowCap {
        let read = propertyReader(property)
        return RowCap(most: max(1, most), group: group, orderedBy: property, order: { read($0).rowOrder })
    }

    /// No limit: a flood of packets fills the disk.
    public static var none: RowCap { RowCap(most: nil, group: nil, orderedBy: nil, order: { _ in 0 }) }

    /// How many bytes of the key identify the group.
    var prefixLength: Int { group == nil ? 0 : Row.columns.first { $0.isKey }?.keyLength ?? 0 }

    /// Its text in the recipe, which survives renaming of a property.
    var text: String {
        guard let most else { return "cap=none" }
        func name(_ property: (any PartialKeyPath<Row> & Sendable)?) -> String {
            Row.columns.first { column in property.map { column.isOf($0) } ?? false }?.lastingName ?? "?"
        }
        return "cap=\(most)" + (group == nil ? "" : ";each=\(name(group))") + ";by=\(name(orderedBy))"
    }
}

/// A value that determines which of two rows is evicted first.
public protocol RowOrder: SendableMetatype {
    /// Rises with the value.
    var rowOrder: UInt64 { get }
}

extension RowOrder where Self: FixedWidthInteger {
    public var rowOrder: UInt64 {
        Self.isSigned ? UInt64(bitPattern: Int64(truncatingIfNeeded: self)) ^ 1 << 63 : UInt64(truncatingIfNeeded: self)
    }
}

extension UInt8: RowOrder {}
extension UInt16: RowOrder {}
extension UInt32: RowOrder {}
extension UInt64: RowOrder {}
extension UInt: RowOrder {}
extension Int32: RowOrder {}
extension Int64: RowOrder {}
extension Int: RowOrder {}

extension Double: RowOrder {
    /// The bits of IEEE 754, negative ones inverted; NaN comes first.
    public var rowOrder: UInt64 {
        guard !isNaN else { return 0 }
        return bitPattern >> 63 == 1 ? ~bitPattern : bitPattern | 1 << 63
    }
}

extension Date: RowOrder {
    public var rowOrder: UInt64 { timeIntervalSinceReferenceDate.rowOrder }
}
