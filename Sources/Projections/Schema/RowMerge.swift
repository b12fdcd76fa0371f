import LMDB
import ProtobufWire

/// A row that differs between two recipes of a view.
public struct RowDifference: Sendable {
    public let table: String
    public let key: [UInt8]
    /// Nil if the old recipe has no such row.
    public let old: [UInt8]?
    /// Nil if the new recipe has no such row.
    public let new: [UInt8]?
}

/// Walks the same table of two stores in the order of their keys, in constant memory.
package struct RowMerge {
    /// How many rows one pair of read transactions compares.
    private static let batch = 16_384

    private let old: ViewStore
    private let new: ViewStore
    private let table: String

    package init(_ old: ViewStore, _ new: ViewStore, table: String) {
        (self.old, self.new, self.table) = (old, new, table)
    }

    /// - Parameter body: receives each row that differs; ends the comparison by returning false.
    /// - Returns: whether it reached the end.
    /// - Throws: what `body` throws, and errors of the files.
    package func run(_ body: (RowDifference) throws -> Bool) throws -> Bool {
        var last: [UInt8]? = []
        while let key = last {
            let (differences, next) = try batch(after: key)
            for difference in differences { guard try body(difference) else { return false } }
            last = next
        }
        return true
    }

    private func batch(after key: [UInt8]) throws(StorageError) -> (differences: [RowDifference], last: [UInt8]?) {
        let before = try old.environment.beginRead()
        let after = try new.environment.beginRead()
        var one = try before.cursor(old.table(table))
        var other = try after.cursor(new.table(table))
        let start = key + [0]
        var hasOne = key.isEmpty ? try one.first() : try one.seek(atOrAfter: start.rawSpan)
        var hasOther = key.isEmpty ? try other.first() : try other.seek(atOrAfter: start.rawSpan)
        var differences: [RowDifference] = []
        var last: [UInt8] = []
        for _ in 0..<Self.batch {
            guard hasOne || hasOther else { return (differences, nil) }
            let order = !hasOne ? 1 : !hasOther ? -1 : one.key.compared(to: other.key)
            last = order > 0 ? other.key.asArray : one.key.asArray
            if order != 0 || !one.value.isSame(as: other.value) {
                differences.append(
                    RowDifference(
                        table: table, key: last, old: order <= 0 ? one.value.asArray : nil,
                        new: order >= 0 ? other.value.asArray : nil))
            }
            if order <= 0 { hasOne = try one.next() }
            if order >= 0 { hasOther = try other.next() }
        }
        return (differences, last)
    }
}
