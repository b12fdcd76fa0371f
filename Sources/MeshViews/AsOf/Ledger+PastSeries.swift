import EventLog
import LMDB
import Projections

/// Where the rows of one series (a node's positions, a node's metrics of one kind) are read.
struct SeriesSource {
    var store: ViewStore
    /// Rows of later events are not there yet.
    var last: UInt64
}

extension Ledger {
    /// Reads one series.
    ///
    /// As of an event, the rows of today's view that came of no later one are all there were, as long as none has gone. Where one may have, the node's own
    /// events are folded again.
    /// - Parameter today: the view as it is now, where this ledger is.
    func reading<Result>(
        _ series: Series, _ today: ViewStore, _ body: (SeriesSource) throws(StorageError) -> Result
    ) throws(LedgerError) -> Result {
        do throws(StorageError) {
            let result = try body(SeriesSource(store: today, last: past?.through ?? .max))
            // Asked for afterwards: what goes meanwhile is noticed.
            guard let past, try today.hasLost(series, since: past.through) else { return result }
        } catch {
            throw LedgerError(error, path: path)
        }
        guard let past else { return try reading(series, today, body) }
        let store = try past.store(of: series)
        do throws(StorageError) {
            return try body(SeriesSource(store: store, last: past.through))
        } catch {
            throw LedgerError(error, path: path)
        }
    }

    /// Today's view, which has perhaps more nodes than there were then; where it cannot tell of then, the view of then.
    func today(_ view: SeriesView) throws(LedgerError) -> ViewStore {
        guard let past, let store = try past.current(view.name) else { return try store(of: view.name) }
        return store
    }
}

extension PastViews {
    /// Today's view, where it has come as far as the event and is of today's recipe.
    func current(_ view: String) throws(LedgerError) -> ViewStore? {
        let definition = try whole.definition(view)
        let current = whole.served.folder(view).current()
        guard current.map({ $0.prefix { $0 != "." } == definition.recipe.identifier }) ?? false,
            try whole.isBuilt(definition), try !whole.viewsHoldErased()
        else { return nil }
        let store = try whole.store(of: view)
        do throws(StorageError) {
            return try store.checkpoint().sequence >= through ? store : nil
        } catch {
            throw LedgerError(error, path: whole.path)
        }
    }

    /// A store that has the rows of one series, made of the node's events alone, which the index names.
    func store(of series: Series) throws(LedgerError) -> ViewStore {
        let definition = try whole.definition(series.view.name)
        guard try current("packets") != nil, let today = try current(series.view.name) else { return try store(definition) }
        return try store(named: series.name) { place in
            let store = try ViewBaselines(log: self.whole.log).store(definition, at: place)
            TemporaryStores.hide(store)
            do {
                var past = try PastSeries(series, definition, into: store, of: self, today: today)
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
    /// Whether rows of the series may have gone that were there as of an event.
    fileprivate func hasLost(_ series: Series, since event: UInt64) throws(StorageError) -> Bool {
        if series.view.isThinned { return true }
        if try series.lastSuperseded(in: self) > event { return true }
        return try series.count(in: self) >= UInt64(series.cap)
    }
}
