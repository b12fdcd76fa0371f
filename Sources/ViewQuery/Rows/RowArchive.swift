package import LMDB
package import Projections

/// How archived rows of a view are distinguished from the others.
public struct RowArchive<Row>: Sendable {
    /// The table of the view's store that has an entry as soon as a row was archived.
    let table: String
    public let isArchived: @Sendable (borrowing Row) -> Bool

    public init(table: String, isArchived: @escaping @Sendable (borrowing Row) -> Bool) {
        self.table = table
        self.isArchived = isArchived
    }
}

extension FetchDescriptor {
    /// The same query, which skips the test for archived rows if the view never had any.
    package func settled(in store: ViewStore) -> FetchDescriptor {
        guard Row.archive != nil, !includesArchived else { return self }
        guard let transaction = try? store.environment.beginRead() else { return self }  // reported when the rows are read
        return settled(in: store, transaction)
    }

    package func settled(in store: ViewStore, _ transaction: borrowing ReadTransaction) -> FetchDescriptor {
        guard let archive = Row.archive, !includesArchived else { return self }
        var settled = self
        settled.noneIsArchived = archive.isEmpty(in: store, transaction)
        return settled
    }

    /// Whether a row was archived after it was known that none is.
    package func isStale(in store: ViewStore) -> Bool { noneIsArchived && !settled(in: store).noneIsArchived }

    /// The filter, which also leaves archived rows out where they are not requested.
    func hidingArchived(_ filter: RowFilter<Row>?) -> RowFilter<Row>? {
        guard let archive = Row.archive, !includesArchived, !noneIsArchived else { return filter }
        let isArchived = archive.isArchived
        guard let holds = filter?.holds else { return RowFilter { (row) throws(QueryError) in !isArchived(row) } }
        return RowFilter { (row) throws(QueryError) in
            if isArchived(row) { return false }
            return try holds(row)
        }
    }
}

extension RowArchive {
    fileprivate func isEmpty(in store: ViewStore, _ transaction: borrowing ReadTransaction) -> Bool {
        guard let table = try? store.table(table) else { return true }  // an earlier program's view has no such table
        return (try? transaction.count(table)) == 0  // an error is reported when the rows are read
    }
}
