import LMDB
import Projections

/// How archived rows of a view are distinguished from the others.
public struct RowArchive<Row>: Sendable {
    /// The table of the view's store that has an entry once a row was archived.
    let table: String
    public let isArchived: @Sendable (borrowing Row) -> Bool

    public init(table: String, isArchived: @escaping @Sendable (borrowing Row) -> Bool) {
        self.table = table
        self.isArchived = isArchived
    }
}

extension RowArchive {
    func isEmpty(in store: ViewStore, _ transaction: borrowing ReadTransaction) -> Bool {
        guard let table = try? store.table(table) else { return true }  // an earlier program's view has no such table
        return (try? transaction.count(table)) == 0  // an error is reported when the rows are read
    }
}
