internal import LMDB
internal import Synchronization

/// Keeps the log, and the files that count with it, below the size limit, and counts failures.
///
/// Commits free pages that the next ones reuse, unless a process still reads the old data: then the file grows with every commit. If that
/// continues until little space is left, the writer slows down, so that there is time to find the reader, and then fails.
///
/// Synchronization: behind the mutex, except `isDegraded`.
final class SizeGuard: Sendable {
    private struct State {
        var condition: LogHealth
        var otherReaders: [LogReading] = []
        /// The size in bytes when the writer was last told to pause.
        var lastTotal: Int?
    }

    /// The last share of the limit, in which the writer slows down.
    private static let zone = 8
    /// The remaining space lasts at least this long if a tenth of it is used each time.
    private static let slowness_s = 10.0
    /// The map's size is corrected if it is off by more than this share of the limit.
    private static let exactness = 256
    private static let smallestMap = 1 << 20
    private static let patience = Duration.milliseconds(20)

    private let path: String
    private let stores: StoreBox
    private let slowestCommit: Duration
    private let state: Mutex<State>
    private let watch = ReaderWatch()
    private let isDegraded = Atomic<Bool>(false)

    init(path: String, stores: StoreBox, limit: Int, slowestCommit: Duration) {
        self.path = path
        self.stores = stores
        self.slowestCommit = slowestCommit
        state = Mutex(State(condition: LogHealth(sizeLimit: limit)))
    }

    func setLimit(_ bytes: Int) { state.withLock { $0.condition.sizeLimit = bytes } }

    func setOthers(_ bytes: Int, _ readers: [LogReading]) {
        state.withLock { state in
            state.condition.otherBytes = bytes
            state.otherReaders = readers
        }
    }

    /// The most bytes that the log's file may have.
    var mapLimit: Int { state.withLock { Self.mapLimit($0.condition) } }

    private static func mapLimit(_ condition: LogHealth) -> Int {
        max(condition.sizeLimit - condition.otherBytes, min(condition.sizeLimit, smallestMap))
    }

    func condition() -> LogHealth {
        let environment = stores.store.environment
        var (condition, others) = state.withLock { ($0.condition, $0.otherReaders) }
        condition.logBytes = (try? environment.extent().usedSize) ?? 0  // closed: it has no size
        condition.readers = readers(of: environment) + others
        condition.areWritesClosed = environment.areWritesClosed
        return condition
    }

    private func readers(of environment: Environment) -> [LogReading] {
        (try? watch.look(at: environment, as: "log")) ?? []  // closed: it has no readers
    }

    // MARK: Slowing down and refusing

    /// How long the writer pauses before its next transaction.
    /// - Parameter isResting: whether the writer then pauses; otherwise it only asks.
    func pause(isResting: Bool = true) -> Duration? {
        let environment = stores.store.environment
        guard let extent = try? environment.extent() else { return nil }  // closed: the transaction reports it
        let (grown, left) = state.withLock { state in
            let total = extent.usedSize + state.condition.otherBytes
            let left = state.condition.sizeLimit - total
            let isNear = left < state.condition.sizeLimit / Self.zone
            defer { if isResting || !isNear || state.lastTotal == nil { state.lastTotal = total } }
            return (isNear ? total - (state.lastTotal ?? total) : 0, left)
        }
        guard grown > 0, blockers(environment).first != nil else { return nil }
        if isResting { state.withLock { $0.condition.slowedCommits += 1 } }
        return min(slowestCommit, .seconds(Self.slowness_s * Double(grown) / Double(max(left, 1))))
    }

    private func blockers(_ environment: Environment) -> [LogReading] {
        (readers(of: environment) + state.withLock { $0.otherReaders }).filter(\.isLong)
    }

    /// Nil unless the files beside the log grow because of a reader, which only a pause of the writer stops.
    func refusal() -> StorageError? {
        guard state.withLock({ $0.otherReaders.contains(where: \.isLong) }) else { return nil }
        let environment = stores.store.environment
        guard let extent = try? environment.extent() else { return nil }  // closed: the transaction reports it
        let isFull = state.withLock { extent.usedSize + $0.condition.otherBytes >= $0.condition.sizeLimit }
        return isFull ? StorageError(.sizeLimitReached, call: "append", path: path) : nil
    }

    /// Whether dead readers kept space from being reused, so that a transaction that hit the limit may now fit.
    func foundRoom() -> Bool { clearStaleReaders() > 0 }

    @discardableResult
    private func clearStaleReaders() -> Int {
        let count = (try? stores.store.environment.clearStaleReaders()) ?? 0  // closed: it has no readers
        if count > 0 { state.withLock { $0.condition.clearedReaders += UInt64(count) } }
        return count
    }

    // MARK: Failures

    func failed(_ error: StorageError) {
        isDegraded.store(true, ordering: .relaxed)
        state.withLock { state in
            state.condition.failedCommits += 1
            state.condition.lastFailure = "\(error)"
            state.condition.isDegraded = true
        }
    }

    func succeeded() {
        guard isDegraded.exchange(false, ordering: .relaxed) else { return }
        state.withLock { $0.condition.isDegraded = false }
    }

    /// The limit, and the process that keeps freed space below it from being reused.
    func limitReached(_ cause: StorageError) -> EventLogError {
        let blocker = blockers(stores.store.environment).first
        let limit = "the limit is \(state.withLock { $0.condition.sizeLimit }) bytes"
        let detail = [limit, blocker?.text].compactMap { $0 }.joined(separator: ", ")
        return EventLogError(.sizeLimitReached, path: path, detail: detail, cause: cause, holder: blocker?.process)
    }

    // MARK: Periodic checks

    func look() {
        clearStaleReaders()
        let environment = stores.store.environment
        _ = readers(of: environment)
        guard let extent = try? environment.extent() else { return }  // closed: nothing to keep
        let (wanted, limit) = state.withLock { (Self.mapLimit($0.condition), $0.condition.sizeLimit) }
        let target = max(Environment.mapSize(limit: wanted), extent.usedSize)
        guard abs(target - extent.sizeLimit) > limit / Self.exactness else { return }
        // Under load there is always a transaction, so that new ones wait for a moment.
        try? environment.setSizeLimit(target, patience: Self.patience)  // a long read is in progress: tried again the next time
    }
}
