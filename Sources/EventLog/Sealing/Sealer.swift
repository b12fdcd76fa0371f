internal import Dispatch
internal import LMDB
internal import Synchronization

/// Seals old events beside the writer, which moves finished blocks within its next appends.
///
/// Blocks go into the log in order, and only a few within one append, so that it does not wait long; while some are being moved, the next
/// are made.
///
/// Synchronization: blocks are made on `queue`, one job at a time; everything else is behind the mutex.
final class Sealer: Sendable {
    struct State {
        var isAtWork = false
        var isEnded = false
        /// How many callers have asked it to pause.
        var pauses = 0
        /// The last event of the blocks that are being moved into the log.
        var pending: UInt64?
        /// Made while other blocks are being moved.
        var ready: SealWork?
        /// The first event that is in no block, whether stored, being moved or ready. Nil until it has been read, and after a failure.
        var next: UInt64?
        /// The last event that is sealed, as far as known.
        var lastSealed: UInt64 = 0
        /// Counts the failures, after which blocks that were made before are useless.
        var failures = 0
        /// Why sealing stopped for good.
        var problem: EventLogError?
        /// Whether no caller is appending, so that blocks need not wait.
        var isIdle = false
        var headWhenAdded: UInt64 = 0
        var requests: [SealRequest] = []
    }

    let stores: StoreBox
    var store: LogStore { stores.store }
    private let policy: SealingPolicy
    private let summariser: EventSummariser?
    private let prepared: PreparedWorkBox
    private let board: HeadPublisher
    /// Asks the writer for a transaction.
    private let nudge: @Sendable () -> Void
    private let queue = BackgroundQueue(name: "meshledger-seal")
    private let state = Mutex(State())
    private let maker = Mutex<BlockMaker?>(nil)
    /// The head at which there is something to seal.
    private let nextHead = Atomic<UInt64>(0)

    /// The number of blocks within one append; while no caller appends; while a caller waits for sealing.
    private static let (blocksWithAppend, blocksWhenIdle, blocksOnRequest) = (1, 4, 16)
    /// How long a block waits for an append before the writer is asked for a separate transaction.
    private static let patience = DispatchTimeInterval.seconds(1)

    init(
        stores: StoreBox, policy: SealingPolicy, summariser: EventSummariser?, prepared: PreparedWorkBox, board: HeadPublisher,
        nudge: @escaping @Sendable () -> Void
    ) {
        self.stores = stores
        self.policy = policy
        self.summariser = summariser
        self.prepared = prepared
        self.board = board
        self.nudge = nudge
    }

    /// Checks whether events have become old enough. Called after each commit.
    func wake(head: UInt64) {
        guard policy.isAutomatic, head >= nextHead.load(ordering: .relaxed) else { return }
        start()
    }

    /// Seals everything up to the request's target.
    func add(_ request: SealRequest) {
        let isEnded = state.withLock { state in
            if !state.isEnded {
                state.requests.append(request)
                state.problem = nil
            }
            return state.isEnded
        }
        if isEnded { return request.waiter.resume(returning: EventLogError(.closed, path: store.environment.path)) }
        start()
        // Otherwise, blocks that are being moved would wait for an append.
        nudge()
    }

    /// Ends the sealing. Blocks that are being moved stay with the writer.
    func finish() {
        let requests = state.withLock { state in
            state.isEnded = true
            defer { state.requests = [] }
            return state.requests
        }
        queue.waitForJobs()
        for request in requests { request.waiter.resume(returning: EventLogError(.closed, path: store.environment.path)) }
    }

    /// Pauses until `goOn`: when this returns, nothing is being moved into the log, or the move will have no effect.
    func pause() {
        state.withLock { $0.pauses += 1 }
        queue.waitForJobs()
    }

    /// Continues from what is stored now.
    func goOn() {
        let isResumed = state.withLock { state in
            state.pauses -= 1
            guard state.pauses == 0 else { return false }
            state.next = state.pending.map { $0 + 1 }
            state.ready = nil
            state.failures += 1
            return true
        }
        guard isResumed else { return }
        maker.withLock { $0 = nil }
        nextHead.store(0, ordering: .relaxed)
        start()
    }

    var problem: EventLogError? { state.withLock { $0.problem } }

    private func start() {
        let starts = state.withLock { state in
            guard !state.isAtWork, !state.isEnded, state.pauses == 0, state.ready == nil, state.problem == nil else {
                return false
            }
            state.isAtWork = true
            return true
        }
        if starts { queue.async { self.work() } }
    }
}

extension Sealer {
    private struct Plan {
        var next: UInt64
        var last: UInt64
        var blocks: Int
        /// Whether small blocks are made at the end.
        var isWhole: Bool
    }

    private func work() {
        let failures = state.withLock { $0.failures }
        do throws(EventLogError) {
            let made = try make()
            let isAdded = state.withLock { state in
                state.isAtWork = false
                guard let made, state.failures == failures, !state.isEnded, state.pauses == 0 else { return false }
                state.next = made.last + 1
                if state.pending != nil { state.ready = made } else { add(made, &state) }
                return true
            }
            if !isAdded { answer() }
            if isAdded || state.withLock({ !$0.requests.isEmpty && $0.pending == nil }) { start() }
        } catch {
            state.withLock { state in
                state.isAtWork = false
                state.problem = error
            }
            answer()
        }
    }

    private func make() throws(EventLogError) -> SealWork? {
        guard let plan = try plan() else { return nil }
        var blocks: [EncodedBlock] = []
        var checksums: [UInt64] = []
        var next = plan.next
        // One job at a time, so there is no other user.
        let kept = maker.withLock { $0 }
        let maker = if let kept { kept } else { try storing { () throws(StorageError) in try newMaker() } }
        while blocks.count < plan.blocks, let made = try maker.next(from: next, through: plan.last, isWhole: plan.isWhole) {
            blocks.append(made.0)
            checksums += made.checksums
            next = made.0.last + 1
        }
        guard !blocks.isEmpty else { return nil }
        return SealWork(blocks: blocks, checksums: checksums) { [weak self] in self?.ended($0) }
    }

    private func newMaker() throws(StorageError) -> BlockMaker {
        let new = try BlockMaker(stores: stores, summariser: summariser)
        maker.withLock { $0 = new }
        return new
    }

    private func plan() throws(EventLogError) -> Plan? {
        let (known, target, isIdle) = state.withLock { state in
            (state.next, state.requests.map(\.target).max() ?? 0, state.isIdle)
        }
        let next: UInt64
        if let known {
            next = known
        } else {
            let store = store
            let lastSealed = try storing { () throws(StorageError) in
                try store.extent(try store.environment.beginRead()).lastSealed
            }
            next = lastSealed + 1
            state.withLock { state in
                state.next = next
                state.lastSealed = lastSealed
            }
        }
        let head = board.head
        if target >= next {
            return Plan(next: next, last: min(target, head), blocks: Self.blocksOnRequest, isWhole: true)
        }
        guard policy.isAutomatic else { return nil }
        let hot = UInt64(clamping: policy.hotEvents)
        // Records are read somewhat beyond a block's end, to try where it ends best.
        nextHead.store(next + hot + 256, ordering: .relaxed)
        guard head > hot, head - hot >= next else { return nil }
        let blocks = isIdle ? Self.blocksWhenIdle : Self.blocksWithAppend
        return Plan(next: next, last: head - hot, blocks: blocks, isWhole: false)
    }

    private func add(_ work: SealWork, _ state: inout State) {
        state.pending = work.last
        state.headWhenAdded = board.head
        prepared.add(work)
        if state.isIdle || !state.requests.isEmpty {
            nudge()
        } else {
            Relay.run { [weak self] in
                DispatchQueue.global(qos: .utility).asyncAfter(deadline: .now() + Self.patience) { [weak self] in
                    self?.lost(work.last)
                }
            }
        }
    }

    /// No caller has appended for some time.
    private func lost(_ last: UInt64) {
        let isWaiting = state.withLock { state in
            guard state.pending == last, !state.isEnded, board.head == state.headWhenAdded else { return false }
            state.isIdle = true
            return true
        }
        if isWaiting { nudge() }
    }

    /// Called by the writer.
    private func ended(_ failure: StorageError?) {
        state.withLock { state in
            if failure != nil {
                state.next = nil
                state.ready = nil
                state.failures += 1
            } else if let pending = state.pending {
                state.lastSealed = pending
            }
            state.pending = nil
            if board.head != state.headWhenAdded { state.isIdle = false }
            if let ready = state.ready, !state.isEnded {
                state.ready = nil
                if state.pauses == 0 { add(ready, &state) }
            }
        }
        if let failure {
            // Blocks that could not be stored, for example because the disk is full, are retried at the next commit.
            answer(EventLogError(failure))
        } else {
            answer()
            start()
        }
    }

    /// Answers the callers whose events are sealed, or all of them with the failure.
    private func answer(_ failure: EventLogError? = nil) {
        let (waiting, answered, problem, sealed) = state.withLock { state in
            let problem = failure ?? state.problem
            let answered = state.requests.filter { problem != nil || $0.target <= state.lastSealed }
            state.requests.removeAll { problem != nil || $0.target <= state.lastSealed }
            return (state.requests, answered, problem, state.lastSealed)
        }
        guard !waiting.isEmpty || !answered.isEmpty else { return }
        Relay.run {
            for request in waiting { request.progress(SealingProgress(sealed: sealed, target: request.target)) }
            for request in answered { request.waiter.resume(returning: problem) }
        }
    }
}

/// A caller that waits until events are sealed.
struct SealRequest: Sendable {
    let target: UInt64
    let progress: @Sendable (SealingProgress) -> Void
    let waiter: CheckedContinuation<EventLogError?, Never>
}
