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
        /// What the files that count with the log will take besides, once they have what it has.
        var expected = ExpectedBytes()
        /// The size in bytes when the writer was last told to pause.
        var lastTotal: Int?
        /// How many jobs that make room are running, and whether the log's file may exceed the limit for them.
        var makers = 0
        var isOpenForMakers = false

        /// What is taken, with a log that ends with this event, in bytes.
        func taken(_ usedSize: Int, _ head: UInt64) -> Int { usedSize + condition.otherBytes + expected.bytes(through: head) }
    }

    /// The last share of the limit, in which the writer slows down.
    private static let zone = 8
    /// The remaining space lasts at least this long if a tenth of it is used each time.
    private static let slowness_s = 10.0
    /// The map's size is corrected if it is off by more than this share of the limit.
    private static let exactness = 256
    private static let smallestMap = 1 << 20
    private static let patience = Duration.milliseconds(20)
    private static let makersPatience = Duration.seconds(5)

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

    func setOthers(_ bytes: Int, _ expected: ExpectedBytes, _ readers: [LogReading]) {
        state.withLock { state in
            (state.condition.otherBytes, state.expected) = (bytes, expected)
            state.otherReaders = readers
        }
    }

    /// The most bytes that the log's file may have.
    var mapLimit: Int { state.withLock { Self.mapLimit($0) } }

    private static func mapLimit(_ state: State) -> Int {
        let limit = state.condition.sizeLimit
        if state.isOpenForMakers { return max(limit, limit.multipliedReportingOverflow(by: 2).partialValue, smallestMap) }
        return max(limit - state.condition.otherBytes, min(limit, smallestMap))
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

    /// Nil unless the limit is reached while the log's file has room still: for jobs that make room, and for views that have not stored their rows
    /// yet. Free pages inside the log's file do not count, unless the files beside the log grow while a process reads them, which only a pause
    /// of the writer stops.
    func refusal(after head: UInt64) -> StorageError? {
        let environment = stores.store.environment
        guard let extent = try? environment.extent() else { return nil }  // closed: the transaction reports it
        let (over, isRead) = state.withLock { state in
            (state.taken(extent.usedSize, head) - state.condition.sizeLimit, state.otherReaders.contains(where: \.isLong))
        }
        guard over >= 0 else { return nil }
        let free = isRead ? 0 : (try? environment.freeSize()) ?? 0  // closed, as above
        return over >= free ? StorageError(.sizeLimitReached, call: "append", path: path) : nil
    }

    /// Whether dead readers kept space from being reused, so that a transaction that hit the limit may now fit.
    func foundRoom() -> Bool { clearStaleReaders() > 0 }

    @discardableResult
    private func clearStaleReaders() -> Int {
        let count = (try? stores.store.environment.clearStaleReaders()) ?? 0  // closed: it has no readers
        if count > 0 { state.withLock { $0.condition.clearedReaders += UInt64(count) } }
        return count
    }

    // MARK: Making room

    /// Runs a job that drops or rewrites events, which needs space before it frees some: it may exceed the limit. Appends may not meanwhile.
    func makingRoom<Result>(_ job: () throws(EventLogError) -> Result) throws(EventLogError) -> Result {
        beginMakingRoom()
        defer { endMakingRoom() }
        return try job()
    }

    func beginMakingRoom() {
        let environment = stores.store.environment
        guard let extent = try? environment.extent() else { return }  // closed: the job reports it
        let wanted: Int? = state.withLock { state in
            state.makers += 1
            // A job that rewrites the log needs as much again.
            let (needed, isBeyond) = extent.usedSize.multipliedReportingOverflow(by: 2)
            guard isBeyond || needed > state.condition.sizeLimit - state.condition.otherBytes else { return nil }
            state.isOpenForMakers = true
            return Self.mapLimit(state)
        }
        guard let wanted else { return }
        // A long read is in progress: the job may find no room, and says so.
        try? environment.setSizeLimit(Environment.mapSize(limit: wanted), patience: Self.makersPatience)  // see above
    }

    func endMakingRoom() {
        state.withLock { state in
            state.makers -= 1
            if state.makers == 0 { state.isOpenForMakers = false }
        }
        look()
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
        let condition = state.withLock { $0.condition }
        let (size, views) = (condition.sizeLimit, condition.otherBytes)
        let part =
            views >= size
            ? ", and the views alone take \(views)"
            : views > size / 2 ? ", of which the views take \(views): dropping old events does not free these" : ""
        let limit = "the limit is \(size) bytes\(part)"
        let detail = [limit, blocker?.text].compactMap { $0 }.joined(separator: ", ")
        return EventLogError(.sizeLimitReached, path: path, detail: detail, cause: cause, holder: blocker?.process)
    }

    // MARK: Periodic checks

    func look() {
        clearStaleReaders()
        let environment = stores.store.environment
        _ = readers(of: environment)
        guard let extent = try? environment.extent() else { return }  // closed: nothing to keep
        let (wanted, limit) = state.withLock { (Self.mapLimit($0), $0.condition.sizeLimit) }
        let target = max(Environment.mapSize(limit: wanted), extent.usedSize)
        guard abs(target - extent.sizeLimit) > limit / Self.exactness else { return }
        // Under load there is always a transaction, so that new ones wait for a moment.
        try? environment.setSizeLimit(target, patience: Self.patience)  // a long read is in progress: tried again the next time
    }
}

/// What files that are derived from the log take, once they have what it has stored.
struct ExpectedBytes {
    /// The last event that they have.
    var stored = UInt64.max
    /// How many bytes an event adds; where many are missing, few of them add more than this.
    var ofEvent = 0
    private static let (many, most): (UInt64, Int) = (100_000, 150)

    func bytes(through head: UInt64) -> Int {
        let missing = min(head - min(stored, head), 1 << 40)
        let first = min(missing, Self.many)
        return Int(first) * ofEvent + Int(missing - first) * min(ofEvent, Self.most)
    }
}
