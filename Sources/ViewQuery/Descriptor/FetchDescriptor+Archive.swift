package import LMDB
package import Projections

extension FetchDescriptor {
    /// The same query, without the test for archived rows if the view never had any.
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

    /// Whether a row was archived although it was known that none was.
    package func isStale(in store: ViewStore) -> Bool { noneIsArchived && !settled(in: store).noneIsArchived }

    /// The filter, which also leaves out archived rows unless they are requested.
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
