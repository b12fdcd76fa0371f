import Foundation

/// A text of a value's parts with the bits of its numbers, so that what only looks equal differs: NaN is not equal to itself,
/// and zero is equal to minus zero. Not for sets and dictionaries, which have no order.
public func exactText(of value: Any) -> String {
    switch value {
    case let value as Double: return String(value.bitPattern)
    case let value as Float: return String(value.bitPattern)
    case let value as Date: return String(value.timeIntervalSinceReferenceDate.bitPattern)
    case let value as String: return "\(Array(value.utf8))"
    case let value as Data: return "\(Array(value))"
    case let values as [Data]: return "\(values.map { Array($0) })"
    default:
        let children = Mirror(reflecting: value).children
        return children.isEmpty ? "\(value)" : children.map { exactText(of: $0.value) }.joined(separator: ",")
    }
}
