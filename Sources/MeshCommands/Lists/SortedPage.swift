import MeshTables

/// Rows in the order of a column: only those that may be on the page are kept; of equal ones the earlier come first.
struct SortedPage {
    /// Up to so many rows are kept whatever the page needs.
    private static let alwaysKept = 4_096

    /// How many rows the page may need; nil for all.
    private let most: Int?
    private let reverse: Bool
    private var found: [(value: CellValue, row: AnyRow)] = []
    /// Once there are enough rows: of the last one that may be on the page.
    private var last: CellValue?
    /// How many were taken, dropped ones included.
    private(set) var count: UInt64 = 0

    init(most: Int?, reverse: Bool) { (self.most, self.reverse) = (most, reverse) }

    mutating func take(_ row: AnyRow, by value: CellValue) {
        count += 1
        if let last, !value.precedes(last, reverse: reverse) { return }
        found.append((value, row))
        guard let most, found.count >= Self.alwaysKept, found.count / 2 >= most else { return }
        order()
        found.removeLast(found.count - most)
        last = found.last?.value
    }

    mutating func rows() -> [AnyRow] {
        order()
        return found.map(\.row)
    }

    private mutating func order() { found.sort { [reverse] in $0.value.precedes($1.value, reverse: reverse) } }
}
