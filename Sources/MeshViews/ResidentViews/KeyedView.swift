import EventLog
import LMDB
import Projections

/// A view that keeps all of its rows in memory, in one table with the view's name.
protocol KeyedView: BuiltInView {
    associatedtype Row: KeyedRow

    var rows: KeyedRows<Row> { get set }
}

extension KeyedView {
    var pendingBytes: Int { rows.pendingBytes }

    mutating func load(_ store: ViewStore) throws(StorageError) {
        let transaction = try store.environment.beginRead()
        try rows.load(transaction, store.table(name))
    }

    func write(to transaction: inout WriteTransaction, store: ViewStore) throws(StorageError) {
        try rows.write(to: &transaction, store.table(name))
    }

    mutating func committed() { rows.committed() }
}
