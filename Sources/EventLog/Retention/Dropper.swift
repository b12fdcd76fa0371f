internal import Dispatch
internal import LMDB

/// Removes what is still stored of dropped events, a bounded step within each of the writer's next appends. Called only from the
/// log's maintenance thread, so that nothing else rewrites the log meanwhile.
struct Dropper: Sendable {
    let stores: StoreBox
    let summariser: EventSummariser?
    let prepared: PreparedWorkBox
    let maintenance: Maintenance
    /// Asks the writer for a transaction.
    let nudge: @Sendable () -> Void

    /// How long it may take to notice that the writer has ended.
    private static let patience = DispatchTimeInterval.milliseconds(50)

    /// Returns when nothing of dropped events is left.
    ///
    /// - Throws: `.closed` when the log is closed meanwhile: the next writer continues. `.diskFull` and others.
    func drop() throws(EventLogError) {
        while try storing({ () throws(StorageError) in try DropWork.isNeeded(stores.store) }) {
            let step = BlockingResult<Result<Void, StorageError>>()
            prepared.add(DropWork(summariser: summariser) { step.set($0.map { .failure($0) } ?? .success(())) })
            nudge()
            while !step.isSet(within: Self.patience) {
                if maintenance.isEnded { throw EventLogError(.closed, path: stores.store.environment.path) }
            }
            try storing { () throws(StorageError) in try step.wait().get() }
        }
    }
}
