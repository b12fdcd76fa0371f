import EventLog
import LMDB
import MeshViews
import Projections

/// The store from which one series (a node's positions, a node's metrics of one kind) is read.
struct SeriesSource {
    var store: ViewStore
    /// Rows of later events are excluded.
    var last: UInt64
}

extension Ledger {
    /// Reads one series.
    ///
    /// As of an event, the current view's rows of events up to it are complete unless one was removed since. If one may have been, the node's
    /// events are folded again.
    /// - Parameter today: the current view, which this ledger reads.
    func reading<Result>(
        _ series: Series, _ today: ViewStore, _ body: (SeriesSource) throws(StorageError) -> Result
    ) throws(LedgerError) -> Result {
        try wrappingErrors {
            let result = try body(SeriesSource(store: today, last: past?.through ?? .max))
            // Checked afterwards, so that rows removed meanwhile are noticed.
            guard let past, try today.hasLost(series, since: past.through) else { return result }
            return try body(SeriesSource(store: past.store(of: series), last: past.through))
        }
    }

    /// The current view, which may have more nodes than there were then; if it cannot answer for that point, the historical view.
    func today(_ view: SeriesView) throws(LedgerError) -> ViewStore {
        guard let past, let store = try past.current(view.name) else { return try store(of: view.name) }
        return store
    }
}

extension HistoricalViews {
    /// The current view, if it has reached the event and has the current recipe, and all events up to it count.
    func current(_ view: String) throws(LedgerError) -> ViewStore? {
        guard heardLater == nil else { return nil }
        let definition = try whole.definition(view)
        let current = whole.served.folder(view).current()
        guard current.map({ $0.prefix { $0 != "." } == definition.recipe.identifier }) ?? false,
            try whole.isBuilt(definition), try !whole.maintenance.viewsHoldErased()
        else { return nil }
        let store = try whole.store(of: view)
        return try whole.wrappingErrors { try store.checkpoint().sequence >= through ? store : nil }
    }

    /// A store with the rows of one series, folded from the node's events alone, which the index names.
    func store(of series: Series) throws(LedgerError) -> ViewStore {
        let definition = try whole.definition(series.view.name)
        guard try current("packets") != nil, let today = try current(series.view.name) else { return try store(definition) }
        return try store(named: series.name) { place, path in
            let store = try ViewBaselines(log: self.whole.log).store(definition, at: path)
            place.hide(store)
            do {
                var past = try HistoricalSeries(series, definition, into: store, of: self, today: today)
                try past.fold()
                return store
            } catch {
                store.close()
                throw error
            }
        }
    }
}

extension ViewStore {
    /// Whether rows of the series that existed as of an event may have been removed.
    fileprivate func hasLost(_ series: Series, since event: UInt64) throws(StorageError) -> Bool {
        if series.view.isThinned { return true }
        if try series.lastSuperseded(in: self) > event { return true }
        return try series.count(in: self) >= UInt64(series.cap)
    }
}
