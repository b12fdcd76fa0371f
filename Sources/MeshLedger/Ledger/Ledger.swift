public import EventLog
import Foundation
import LMDB
import Logging
import MeshViews
import Meshtastic
public import Projections
import Synchronization

/// An event log of mesh traffic with its views, opened as one.
///
/// ```swift
/// let ledger = try await Ledger.open(at: "/srv/mesh.ledger")
/// let source = try await ledger.log.source(named: "radio on the roof")
/// _ = try await ledger.log.append(NewEvent(envelope, encoding: .serviceEnvelope, source: source))
/// try await ledger.catchUp()
/// for node in try ledger.nodes() { print(node.longName, node.lastHeard) }
/// try await ledger.close()
/// ```
/// If it is open for writing, the views follow every append automatically; stale ones are rebuilt beside the old ones, which
/// answer meanwhile. Queries read the last commit; call `flush()` first to include everything that was appended.
///
/// Everything that is not a query is grouped: `annotations`, `changes`, `keys`, `retention`, `erasure` and `maintenance`.
///
/// Synchronization: the keyring is behind a mutex; an actor maintains the views; the log has a separate thread.
public final class Ledger: Sendable {
    public let path: String
    public let log: EventLog
    public let isReadOnly: Bool
    let keysProblem: LedgerError?
    let options: LedgerOptions
    let served: ServedViews
    let engine: ViewEngine
    let keyringBox: Mutex<Keyring>
    let definitionsBox: Mutex<[ViewDefinition]>
    private let follower = Mutex<Follower?>(nil)
    private let keeper = Mutex<Task<Void, Never>?>(nil)
    private let sizeKeeper = Mutex<Task<Void, Never>?>(nil)
    let viewWatches = ViewWatches()
    /// How many views there were when their sizes were counted last, how many bytes they took, and which event was the last that all had stored.
    let viewBytes = Mutex<(count: Int, bytes: Int, stored: UInt64)>((0, 0, 0))
    let archivedBox = Mutex(ArchivedNames())
    /// The files of built-in views whose layout was compared with this program's.
    let checkedLayouts = Mutex<Set<String>>([])
    let logger = Logger(label: "meshledger.ledger")
    private let removesFolder: Bool
    /// Rebuilds and changes of keys run one after the other, for all callers.
    let gate = AsyncMutex()
    /// Annotations are checked against the present state and written one at a time.
    let annotationGate = AsyncMutex()
    private let control = Mutex<ControlServer?>(nil)
    private let closing = Mutex<Task<(failure: LedgerError?, lag: UInt64), Never>?>(nil)
    /// Set when its files are about to be closed.
    let isClosed = Atomic(false)
    /// Reports what the live sources of this process are doing.
    let sourceReport = Mutex<(@Sendable () -> [UInt8])?>(nil)
    /// The historical views, if this is a ledger as of a point in time.
    let past: HistoricalViews?

    private init(
        path: String, log: EventLog, keyring: Keyring, keysProblem: LedgerError? = nil, options: LedgerOptions, isReadOnly: Bool,
        removesFolder: Bool
    ) {
        self.path = path
        self.log = log
        self.options = options
        self.isReadOnly = isReadOnly
        self.keysProblem = keysProblem
        self.removesFolder = removesFolder
        past = nil
        served = ServedViews(root: path + "/views", followsFolder: isReadOnly, excludesWriters: log.excludesWriters)
        engine = ViewEngine(
            log: log, served: served, erased: ErasedViews(ledger: path),
            changesKept: options.changesKept, held: options.heldViews, past: HistoricalPolicy(options, isReadOnly: isReadOnly))
        keyringBox = Mutex(keyring)
        definitionsBox = Mutex(Self.definitions(keyring, options))
    }

    /// The ledger as of a point in time: it reads the log of the whole ledger, and separate views.
    init(past: HistoricalViews) {
        let whole = past.whole
        (path, log, options) = (whole.path, whole.log, whole.options)
        (isReadOnly, removesFolder, keysProblem) = (true, false, nil)
        self.past = past
        (served, engine) = (whole.served, whole.engine)
        let keyring = whole.keys.keyring
        keyringBox = Mutex(keyring)
        definitionsBox = Mutex(Self.definitions(keyring, whole.options))
    }

    // MARK: Opening

    /// Creates a ledger in a folder that does not exist yet, and opens it.
    ///
    /// - Throws: `.exists` if something already exists there.
    public static func create(at path: String, options: LedgerOptions = LedgerOptions()) async throws(LedgerError) -> Ledger {
        try check(options, path)
        let wasThere = FileManager.default.fileExists(atPath: path)
        var log: EventLog?
        do {
            let new = try EventLog.create(at: path, options: try logOptions(options, of: path))
            log = new
            let ledger = Ledger(
                path: path, log: new, keyring: try KeyFile.load(from: path), options: options, isReadOnly: false,
                removesFolder: false)
            try await ledger.startNew()
            return ledger
        } catch {
            // Only a folder that this process created is removed, not one that another process made meanwhile: this process still holds the log's lock.
            if log != nil, !wasThere {
                try? OwnedFile.removeAll(path)  // the first failure is the one to report
            }
            await log?.close()
            throw LedgerError(error, path: path)
        }
    }

    /// Opens a ledger.
    ///
    /// - Throws: `.missing`, `.locked` with the holder's process, `.permission`, `.otherFormat`, `.corrupt`, …; never changes
    ///   a file that it refuses.
    public static func open(at path: String, options: LedgerOptions = LedgerOptions()) async throws(LedgerError) -> Ledger {
        try check(options, path)
        TemporaryFolders.removeAbandoned()
        return try await LedgerError.wrapping(path) {
            let (log, isReadOnly) = try openLog(at: path, options)
            var opened: Ledger?
            do {
                let (keyring, problem) = try loadKeys(from: path, toleratesProblems: isReadOnly && options.toleratesBrokenKeys)
                let ledger = Ledger(
                    path: path, log: log, keyring: keyring, keysProblem: problem, options: options, isReadOnly: isReadOnly,
                    removesFolder: false)
                opened = ledger
                if isReadOnly { try ledger.checkServed() } else { try await ledger.start() }
                return ledger
            } catch {
                // The caller may repair the cause and open it again in this process.
                opened?.served.close()
                await log.close()
                throw error
            }
        }
    }

    private static func loadKeys(
        from path: String, toleratesProblems: Bool
    ) throws(LedgerError) -> (keyring: Keyring, problem: LedgerError?) {
        do throws(LedgerError) {
            return (try KeyFile.load(from: path), nil)
        } catch {
            guard toleratesProblems else { throw error }
            return (.standard, error)
        }
    }

    /// - Throws: `.corrupt` if the stored limit is damaged: nothing is written without it.
    private static func logOptions(_ options: LedgerOptions, of path: String) throws(LedgerError) -> EventLogOptions {
        var log = options.log
        if options.access != .readOnly, let bytes = try SizeLimit.load(from: path).bytes {
            log.sizeLimit = min(log.sizeLimit, bytes)
        }
        if log.summariser == nil { log.summariser = .meshtastic }
        return log
    }

    private static func openLog(at path: String, _ options: LedgerOptions) throws -> (EventLog, Bool) {
        var logOptions = try logOptions(options, of: path)
        logOptions.access = options.access == .readOnly ? .readOnly : .readWrite
        do {
            return (try EventLog.open(at: path, options: logOptions), options.access == .readOnly)
        } catch {
            let mayOnlyRead = error.code == .locked || error.code == .permission || error.code == .readOnly
            guard options.access == .automatic && mayOnlyRead else { throw error }
            logOptions.access = .readOnly
            return (try EventLog.open(at: path, options: logOptions), true)
        }
    }

    /// A ledger in memory (`/dev/shm`), removed when it is closed. Remains of killed processes are removed when the next one is created.
    /// - Throws: `.cannotCreate`, `.full`, `.schema` if a custom view is not valid, and `.query` for a cap below 1.
    public static func temporary(options: LedgerOptions = LedgerOptions()) async throws(LedgerError) -> Ledger {
        try check(options, TemporaryFolders.folder)
        return try await LedgerError.wrapping(TemporaryFolders.folder) {
            let (path, log) = try TemporaryFolders.make { try EventLog.create(at: $0, options: try logOptions(options, of: $0)) }
            let ledger = Ledger(
                path: path, log: log, keyring: .standard, options: options, isReadOnly: false, removesFolder: true)
            do {
                try await ledger.startNew()
                return ledger
            } catch {
                await log.close()
                try? OwnedFile.removeAll(path)  // the first failure is the one to report
                throw error
            }
        }
    }

    /// A new ledger can be queried at once: its views exist, without rows.
    private func startNew() async throws {
        try await start()
        try await engine.settle(nil)
    }

    private func start() async throws {
        // Views would be built from data that is to be erased.
        if let problem = log.erasureProblem { throw problem }
        await finishImportedErasures()
        try await engine.start(definitions, keyring: keys.keyring)
        let (heads, signal) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        _ = log.onAppend { _ in signal.yield() }  // lives as long as the log
        let engine = engine
        let task = Task { for await _ in heads { await engine.follow() } }
        follower.withLock { $0 = Follower(signal: signal, task: task) }
        keepPolicy()
        keepSize()
        if options.isControllable && !removesFolder { listen() }
    }

    private func keepPolicy() {
        let (period, pause) = (options.retentionPeriod, min(options.retentionPeriod, options.policyLookInterval))
        keeper.withLock {
            $0 = Task { [weak self] in
                var applied: (policy: RetentionPolicy?, time: ContinuousClock.Instant)?
                while !Task.isCancelled {
                    do {
                        try await Task.sleep(for: pause)
                    } catch {
                        return  // the ledger is being closed
                    }
                    guard let self else { return }
                    let policy = try? self.retention.policy()  // a damaged one is reported when it is applied
                    if let applied, applied.policy == policy, applied.time.duration(to: .now) < period { continue }
                    applied = (policy, .now)
                    await self.retention.applyPolicy()
                }
            }
        }
    }

    private func keepSize() {
        let interval = options.log.lookInterval
        let isLimited = lookAfterSize()
        sizeKeeper.withLock {
            $0 = Task { [weak self] in
                var isLimited = isLimited
                while !Task.isCancelled {
                    do {
                        // Within a second an import exceeds a small limit many times.
                        try await Task.sleep(for: isLimited ? interval / 8 : interval)
                    } catch {
                        return  // the ledger is being closed
                    }
                    guard let self else { return }
                    isLimited = lookAfterSize()
                    await engine.lookAfterFiles()
                }
            }
        }
    }

    private func listen() {
        do throws(ControlError) {
            let server = try ControlServer(ledger: path) { [weak self] (request, progress) in
                guard let self else { throw ControlError(.closing, path: "") }
                return try await self.perform(request, progress: progress)
            }
            control.withLock { $0 = server }
        } catch {
            Logger(label: "meshledger.control").notice(
                "other commands cannot write beside this process: \(error.path): \(error.reason ?? "no socket")")
        }
    }

    /// The task that folds appended events, and its wake-up signal.
    private struct Follower: Sendable {
        var signal: AsyncStream<Void>.Continuation
        var task: Task<Void, Never>
    }

    // MARK: Views

    /// Waits until all views have folded every event of the log, stale ones are rebuilt, and everything is committed.
    /// - Throws: `.readOnly`, and the error that stopped a view, such as `.full` or `.corrupt`.
    public func catchUp(progress: (@Sendable (FoldProgress) -> Void)? = nil) async throws(LedgerError) {
        guard !isReadOnly else { throw readOnlyError }
        try await wrappingErrors { try await engine.settle(progress) }
    }

    /// Commits everything that was appended so far to the views that answer now. Does not wait for views that are being rebuilt.
    /// - Throws: `.readOnly`, and errors of the disk.
    public func flush() async throws(LedgerError) {
        guard !isReadOnly else { throw readOnlyError }
        try await wrappingErrors { try await engine.flush() }
    }

    /// Flushes the views and closes all files. The ledger cannot be used afterwards; further calls wait for the first one.
    ///
    /// Call it on every path, also after an error: a ledger that is released without it stays locked until the process ends.
    /// - Throws: if the views cannot be flushed; the files are closed in any case.
    public func close() async throws(LedgerError) { _ = try await close(within: nil) }

    /// The same, for which views that lag behind the log do not fold all of it: they go on when it is opened again.
    ///
    /// - Parameter limit: how long they may go on folding; nil to wait for them.
    /// - Returns: how many events the views have not folded.
    /// - Throws: if the views cannot be flushed; the files are closed in any case.
    public func close(within limit: Duration?) async throws(LedgerError) -> UInt64 {
        if let past {
            past.close()
            return 0
        }
        let closing = closing.withLock { closing in
            let task = closing ?? Task { await closeOnce(within: limit) }
            closing = task
            return task
        }
        let closed = await closing.value
        if let failure = closed.failure { throw failure }
        return closed.lag
    }

    private func closeOnce(within limit: Duration?) async -> (failure: LedgerError?, lag: UInt64) {
        let ending = limit.map { limit in
            Task { [engine] in
                try await Task.sleep(for: limit)
                await engine.endFolding()
            }
        }
        defer { ending?.cancel() }
        await control.withLock { $0 }?.close()
        for keeper in [keeper.withLock { $0 }, sizeKeeper.withLock { $0 }] {
            keeper?.cancel()
            await keeper?.value
        }
        let follower = follower.withLock { follower in
            defer { follower = nil }
            return follower
        }
        follower?.signal.finish()
        await follower?.task.value
        defer { if removesFolder { try? FileManager.default.removeItem(atPath: path) } }  // tmpfs; nothing to rescue
        var (failure, lag): (LedgerError?, UInt64) = (nil, 0)
        do {
            if !isReadOnly {
                try await engine.close()
                lag = await engine.lag
            }
        } catch {
            failure = LedgerError(error, path: path)
        }
        isClosed.store(true, ordering: .releasing)
        served.close()
        await log.close()
        return (failure, lag)
    }

    var readOnlyError: LedgerError {
        LedgerError(
            .readOnly, path: path,
            "\(path) is open for reading only: another process is writing to it, or this user may not write it")
    }

    func buildProgress(of view: String) async -> Double? { await engine.progress(of: view) }
}
