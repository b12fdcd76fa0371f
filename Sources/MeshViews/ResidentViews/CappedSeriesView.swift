package import EventLog
package import LMDB
package import Projections

/// A view of capped series, whose caps depend on which nodes are favorites.
package protocol CappedSeriesView: BuiltInView {
    var favorites: FavoriteCaps { get set }
    var series: CappedSeries { get set }
    /// `series`, and others with the same caps, if the view has any.
    var allSeries: [CappedSeries] { get }
    mutating func forEachSeries<Failure>(_ body: (inout CappedSeries) throws(Failure) -> Void) throws(Failure)

    /// Folds the events with these indexes in the batch.
    mutating func fold(
        _ batch: MeshBatch, _ range: Range<Int>, after checkpoint: EventSequence, _ context: inout FoldContext
    ) throws(StorageError)
}

extension CappedSeriesView {
    package var allSeries: [CappedSeries] { [series] }

    package mutating func forEachSeries<Failure>(_ body: (inout CappedSeries) throws(Failure) -> Void) throws(Failure) {
        try body(&series)
    }

    package var pendingBytes: Int { allSeries.reduce(0) { $0 + $1.pendingBytes } }

    package mutating func load(_ store: ViewStore) throws(StorageError) { try loadSeries(store) }

    package mutating func loadSeries(_ store: ViewStore) throws(StorageError) {
        let caps = try favorites.load(store)
        try forEachSeries { (series) throws(StorageError) in
            for (node, cap) in caps { series.setCap(cap, of: node) }
            try series.fit(store)
        }
    }

    /// Folds the events before each change of a cap under the previous caps.
    package mutating func fold(
        _ batch: MeshBatch, after checkpoint: EventSequence, in context: inout FoldContext
    ) throws(StorageError) {
        var next = 0
        for change in favorites.changes(in: batch, after: checkpoint) {
            try fold(batch, next..<change.index, after: checkpoint, &context)
            next = change.index
            let store = context.store
            try forEachSeries { (series) throws(StorageError) in try series.changeCap(change.cap, of: change.node, store) }
            context.want(.debounced)
        }
        try fold(batch, next..<batch.stamps.count, after: checkpoint, &context)
    }

    package func write(to transaction: inout WriteTransaction, store: ViewStore) throws(StorageError) {
        for series in allSeries { try series.write(to: &transaction, store) }
        try favorites.write(to: &transaction, store)
    }

    package mutating func committed() { committedSeries() }

    package mutating func committedSeries() {
        favorites.committed()
        forEachSeries { $0.removeAll() }
    }
}
