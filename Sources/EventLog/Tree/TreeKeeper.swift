internal import Dispatch
internal import LMDB
internal import MeshCrypto
internal import Synchronization

/// Hashes full tiles beside the writer, which moves the hashes into the log within its next appends.
///
/// The tree may so lag behind the events. That weakens no proof: what it does not hold is computed from the events themselves.
///
/// Synchronization: hashing happens on `queue`; what the writer asks at each commit is atomic, the rest behind the mutex.
final class TreeKeeper: Sendable {
    private struct State {
        /// Nil until it has been read, and after a failure.
        var frontier: TreeFrontier?
        /// Counts the failures, after which hashes that were computed before are of no use.
        var failures = 0
        var isAtWork = false
        var isEnded = false
    }

    private let store: LogStore
    private let prepared: PreparedWorkBox
    private let queue = DispatchQueue(label: "meshledger-tree", qos: .utility)
    private let state = Mutex(State())
    /// The head at which there is something to hash.
    private let nextHead = Atomic<UInt64>(0)
    /// Asks the writer for a transaction.
    private let nudge: @Sendable () -> Void

    init(store: LogStore, prepared: PreparedWorkBox, nudge: @escaping @Sendable () -> Void) {
        self.store = store
        self.prepared = prepared
        self.nudge = nudge
    }

    /// Looks whether tiles have become full. Called after each commit.
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
    /// - Parameter isCatchingUp: whether what is full is hashed and stored first.
    func finish(isCatchingUp: Bool) {
        state.withLock { $0.isEnded = true }
        queue.sync {}
        guard isCatchingUp, !store.environment.areWritesClosed else { return }
        let works = prepared.takeAll()
        // What stays undone here, say because the disk is full, is done after the next opening.
        try? store.environment.write { (write) throws(StorageError) in
            for work in works { try work.move(into: &write, store) }
        }
        while let work = try? hashNext() {
            try? store.environment.write { (write) throws(StorageError) in try work.move(into: &write, store) }  // as above
        }
    }

    /// In tiles: what is hashed in one read transaction and moved within one append.
    private static let batchSize: UInt64 = 64
    /// How long hashes wait for an append before the writer is asked for a transaction of their own.
    private static let patience = DispatchTimeInterval.seconds(1)

    private func work() {
        while !state.withLock({ $0.isEnded }), let work = try? hashNext() {  // a failure is tried again at the next commit
            prepared.add(work)
        }
        state.withLock { $0.isAtWork = false }
        queue.asyncAfter(deadline: .now() + Self.patience) { [weak self] in
            if let self, !prepared.isEmpty { nudge() }
        }
    }

    /// Nil when no tile is full that was not hashed.
    private func hashNext() throws(EventLogError) -> TreeWork? {
        let reader = try storing { () throws(StorageError) in try LogReader(store) }
        let full = reader.head.rawValue / LogStore.tileSize
        let (known, failures) = state.withLock { ($0.frontier, $0.failures) }
        var frontier = if let known { known } else { try storing { () throws(StorageError) in try TreeFrontier(reader) } }
        let first = frontier.tiles
        let end = min(full, first + Self.batchSize)
        nextHead.store((end + 1) * LogStore.tileSize, ordering: .relaxed)
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

/// The hashes at the right edge of the tree that no stored hash above covers yet.
struct TreeFrontier: Sendable {
    private(set) var tiles: UInt64
    /// From level 1 up: at most 255 each.
    private var open: [[SHA256Digest]]

    /// Reads the edge of the stored tree.
    init(_ reader: borrowing LogReader) throws(StorageError) {
        tiles = try reader.store.hashedTiles(reader.transaction)
        open = []
        var count = tiles
        for level in SubtreeKey.levels {
            var hashes: [SHA256Digest] = []
            for number in count / 256 * 256..<count {
                guard let hash = try reader.store.treeHash(SubtreeKey(level: level, number: number), reader.transaction) else {
                    throw .malformed(SubtreeKey.self)
                }
                hashes.append(hash)
            }
            open.append(hashes)
            count /= 256
        }
    }

    /// Adds the next tile, and the subtrees that it completes.
    mutating func add(_ hash: SHA256Digest, to rows: inout [TreeWork.Row]) {
        var (hash, number) = (hash, tiles)
        tiles += 1
        var hasher = MerkleHasher()
        for level in SubtreeKey.levels {
            let place = Int(level - SubtreeKey.levels.lowerBound)
            rows.append(TreeWork.Row(key: SubtreeKey(level: level, number: number), hash: hash))
            open[place].append(hash)
            guard open[place].count == 256 else { return }
            hash = hasher.root(open[place])
            open[place] = []
            number /= 256
        }
    }
}

/// Hashes of consecutive tiles and the subtrees that they complete.
struct TreeWork: PreparedWork {
    struct Row: Sendable {
        let key: SubtreeKey
        let hash: SHA256Digest
    }

    let firstTile: UInt64
    let rows: [Row]
    let onFailure: @Sendable () -> Void

    func move(into write: inout WriteTransaction, _ store: LogStore) throws(StorageError) {
        // After a failure of the work before, there would be a gap.
        guard try store.hashedTiles(write) == firstTile else { return onFailure() }
        for row in rows {
            let buffer = row.key.buffer
            try write.put(store.tree, key: buffer.bytes, value: row.hash.span, row.key.level == 1 ? .append : .replace)
        }
    }

    func ended(_ failure: StorageError?) {
        if failure != nil { onFailure() }
    }
}
