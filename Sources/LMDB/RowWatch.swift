/// Records which rows of some tables a write transaction stores or removes, in the order of the changes. Removing all rows of a table at once is
/// not recorded.
public final class RowWatch {
    public struct Change: Sendable {
        public let table: RawTable
        public let key: [UInt8]
    }

    private let tables: [RawTable]
    public private(set) var changes: [Change] = []

    public init(_ tables: [RawTable]) { self.tables = tables }

    func note(_ number: UInt32, _ key: RawSpan) {
        guard let table = tables.first(where: { $0.number == number }) else { return }
        changes.append(Change(table: table, key: unsafe key.withUnsafeBytes { unsafe [UInt8]($0) }))
    }
}
