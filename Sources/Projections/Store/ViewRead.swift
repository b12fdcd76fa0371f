package import LMDB

/// A view as of one point in time, for as long as this is kept.
package final class ViewRead {
    package let store: ViewStore
    package let transaction: ReadTransaction

    package init(_ store: ViewStore) throws(StorageError) {
        self.store = store
        transaction = try store.environment.beginRead()
    }
}
