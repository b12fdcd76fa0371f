internal import Dispatch
internal import LMDB
internal import MeshCrypto
internal import Synchronization

/// Hashes full tiles beside the writer, which stores the hashes within its next appends.
///
/// The tree may therefore lag behind the events. That does not weaken proofs: missing hashes are computed from the events themselves.
///
/// Synchronization: hashing happens on `queue`; what the writer reads at each commit is atomic, the rest behind the mutex.
final class TreeKeeper: Sendable {
    private struct State {
        /// Nil until it has been read, and after a failure.
        var frontier: TreeFrontier?
        /// Counts the failures, after which hashes that were computed before are useless.
        var failures = 0
        var isAtWork = false
        var isEnded = false
    }

    private let stores: StoreBox
    private var store: LogStore { stores.store }
    private let prepared: PreparedWorkBox
    private let queue = BackgroundQueue(name: "meshledger-tree")
    private let state = Mutex(State())
    /// The head at which there is something to hash.
    private let nextHead = Atomic<UInt64>(0)
    /// Asks the writer for a transaction.
    private let nudge: @Sendable () -> Void

    init(stores: StoreBox, prepared: PreparedWorkBox, nudge: @escaping @Sendable () -> Void) {
        self.stores = stores
        self.prepared = prepared
        self.nudge = nudge
    }

    /// Checks whether tiles have become full. Called after each commit.
    func wake(head: UInt64) {
        guard head >= nextHead.load(ordering: .relaxed) else { return }
        let starts = state.withLock { state in
            guard !state.isAtWork, !state.isEnded else { return false }
            state.isAtWork = true
            return true
        }
        if starts { queue.async { self.work() } }
    }

    /// Ends the hashing when the writer has ended.
    ///
    /// - Parameter isCatchingUp: whether full tiles are hashed and stored first.
    func finish(isCatchingUp: Bool) {
        state.withLock { $0.isEnded = true }
        queue.waitForJobs()
        guard isCatchingUp, !store.environment.areWritesClosed else { return }
        let works = prepared.takeAll()
        do {
            try move(works)
            while let work = try hashNext() { try move([work]) }
        } catch {
            return  // unfinished work, for example on a full disk, is done after the next opening
        }
    }

    /// In tiles: how many accumulate before they are hashed together, in one read transaction, and stored within one append. That costs an
    /// append as much as some hundred events.
    private static let batchSize: UInt64 = 64
    /// How long hashes wait for an append before the writer is asked for a separate transaction.
    private static let patience = DispatchTimeInterval.seconds(1)

    private func work() {
        // A failure is retried at the next commit.
        while !state.withLock({ $0.isEnded }), let work = try? hashNext() { prepared.add(work) }  // see above
        state.withLock { $0.isAtWork = false }
        Relay.run { [weak self] in
            DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + Self.patience) { [weak self] in
                if let self, !prepared.isEmpty { nudge() }
            }
        }
    }

    private func move(_ works: [any PreparedWork]) throws(StorageError) {
        try store.environment.write { (write) throws(StorageError) in
            for work in works { try work.move(into: &write, store) }
        }
    }

    /// Nil if all full tiles are hashed.
    private func hashNext() throws(EventLogError) -> TreeWork? {
        let reader = try storing { () throws(StorageError) in try LogReader(store) }
        let full = reader.head.rawValue / LogStore.tileSize
        let (known, failures) = state.withLock { ($0.frontier, $0.failures) }
        var frontier = if let known { known } else { try storing { () throws(StorageError) in try TreeFrontier(reader) } }
        let first = frontier.tiles
        let end = min(full, first + Self.batchSize)
        nextHead.store((end + Self.batchSize) * LogStore.tileSize, ordering: .relaxed)
        var rows: [TreeWork.Row] = []
        var tiles = TileReader(reader)
        for tile in first..<max(end, first) { frontier.add(try tiles.tileHash(tile), to: &rows) }
        let kept = frontier
        state.withLock { state in
            if state.failures == failures { state.frontier = kept }
        }
        guard !rows.isEmpty else { return nil }
        return TreeWork(firstTile: first, rows: rows) { [weak self] in self?.forget() }
    }

    private func forget() {
        state.withLock { state in
            state.frontier = nil
            state.failures += 1
        }
        nextHead.store(0, ordering: .relaxed)
    }
}
