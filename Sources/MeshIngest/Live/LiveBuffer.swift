import EventLog
import Meshtastic
import Synchronization

/// Holds what a live source has received and the log has not stored yet, up to 8 MB.
///
/// A source whose peer waits when it is not read (TCP, serial, a file) calls `put`, which waits for space; one whose peer does not wait (UDP) calls `offer`,
/// which counts what finds no space: the next record taken is then a gap with the number of lost ones.
///
/// One task puts or offers, and one takes. Synchronization: the mutex guards everything; continuations are resumed outside of it.
final class LiveBuffer: Sendable {
    /// How many bytes may wait or be on their way to the log.
    static let byteLimit = 8 << 20

    private struct State {
        var waiting: [IngestRecord] = []
        var waitingBytes = 0
        var takenBytes = 0
        var isTaken = false
        var isClosed = false
        var isRefused = false
        var gap: Gap?
        /// The arrival time of the oldest record among those taken, and among those waiting.
        var takenSince: ContinuousClock.Instant?
        var waitingSince: ContinuousClock.Instant?
        var taker: CheckedContinuation<[IngestRecord]?, Never>?
        var putter: CheckedContinuation<Void, Never>?
        var settlers: [CheckedContinuation<Bool, Never>] = []

        var isSettled: Bool { !isTaken && waiting.isEmpty && gap == nil }
    }

    private let byteLimit: Int
    private let state = Mutex(State())

    init(byteLimit: Int = LiveBuffer.byteLimit) { self.byteLimit = byteLimit }

    /// The memory that a record takes here.
    static func size(_ record: IngestRecord) -> Int { record.payload.count + MemoryLayout<IngestRecord>.stride }

    /// Adds records, waiting while there is no space. False if the taker has stopped.
    func put(_ records: [IngestRecord]) async -> Bool {
        guard !records.isEmpty else { return state.withLock { !$0.isRefused } }
        let size = records.reduce(0) { $0 + Self.size($1) }
        while true {
            let isDone: Bool? = state.withLock { state in
                if state.isRefused { return false }
                guard hasSpace(size, state) else { return nil }
                add(records, size, &state)
                return true
            }
            if let isDone {
                hand()
                return isDone
            }
            await withCheckedContinuation { continuation in
                let isFree = state.withLock { state in
                    if state.isRefused || hasSpace(size, state) { return true }
                    state.putter = continuation
                    return false
                }
                if isFree { continuation.resume() }
            }
        }
    }

    /// Adds a record, or counts it as lost if there is no space.
    ///
    /// - Returns: whether it was added.
    func offer(_ record: IngestRecord, lossReason: String) -> Bool {
        let size = Self.size(record)
        let isAdded = state.withLock { state in
            guard !state.isRefused, hasSpace(size, state) else {
                lose(1, lossReason, &state)
                return false
            }
            if let gap = state.gap { flush(gap, &state) }
            add([record], size, &state)
            return true
        }
        hand()
        return isAdded
    }

    /// Counts records that were lost after `since`, before they reached the buffer.
    func lost(_ count: UInt64, since: Timestamp, reason: String) {
        state.withLock { lose(count, since: since, reason, &$0) }
        hand()
    }

    /// What waits: once nothing is taken any more, it is not stored.
    var unstored: Unstored {
        state.withLock { state in Unstored(state.waiting) + Unstored(lost: state.gap?.count ?? 0) }
    }

    /// Signals the end of the records.
    func close() {
        state.withLock { $0.isClosed = true }
        hand()
    }

    /// Takes all waiting records; nil at the end. The caller settles them before it takes again.
    func takeAll() async -> [IngestRecord]? {
        await withCheckedContinuation { continuation in
            state.withLock { $0.taker = continuation }
            hand()
        }
    }

    /// Signals that the taken records are stored.
    func settle() {
        wake { state in
            (state.isTaken, state.takenBytes, state.takenSince) = (false, 0, nil)
        }
        hand()
    }

    /// Signals that no further records will be taken.
    func refuse() { wake { $0.isRefused = true } }

    /// Returns once everything is stored; false if the taker has stopped.
    func waitUntilSettled() async -> Bool {
        await withCheckedContinuation { continuation in
            let answer: Bool? = state.withLock { state in
                if state.isRefused { return false }
                if state.isSettled { return true }
                state.settlers.append(continuation)
                return nil
            }
            if let answer { continuation.resume(returning: answer) }
        }
    }

    /// How long the oldest record that is not stored yet has waited.
    var lagSeconds: Double {
        let since = state.withLock { $0.takenSince ?? $0.waitingSince }
        return since.map { $0.duration(to: .now) / .seconds(1) } ?? 0
    }

    private func hasSpace(_ size: Int, _ state: borrowing State) -> Bool {
        let held = state.waitingBytes + state.takenBytes
        return held == 0 || held < byteLimit && size <= byteLimit - held
    }

    private func add(_ records: [IngestRecord], _ size: Int, _ state: inout State) {
        state.waiting += records
        state.waitingBytes += size
        if state.waitingSince == nil { state.waitingSince = .now }
    }

    private func lose(_ count: UInt64, since: Timestamp? = nil, _ reason: String, _ state: inout State) {
        let now = Timestamp.now
        var gap = state.gap ?? Gap(count: 0, first: min(since ?? now, now), last: now, reason: reason)
        gap.count += count
        gap.last = now
        state.gap = gap
    }

    private func flush(_ gap: Gap, _ state: inout State) {
        state.gap = nil
        let record = IngestRecord(gap)
        add([record], Self.size(record), &state)
    }

    /// Changes the state and wakes the waiting tasks.
    private func wake(_ change: (inout State) -> Void) {
        let (putter, settlers, isSettled) = state.withLock { state in
            change(&state)
            defer { state.putter = nil }
            guard state.isRefused || state.isSettled else {
                return (state.putter, [CheckedContinuation<Bool, Never>](), false)
            }
            defer { state.settlers = [] }
            return (state.putter, state.settlers, !state.isRefused)
        }
        putter?.resume()
        for settler in settlers { settler.resume(returning: isSettled) }
    }

    /// Passes the waiting records to the taker.
    private func hand() {
        let handed: (CheckedContinuation<[IngestRecord]?, Never>, [IngestRecord]?)? = state.withLock { state in
            guard let taker = state.taker, !state.isTaken else { return nil }
            if let gap = state.gap { flush(gap, &state) }
            guard !state.waiting.isEmpty || state.isClosed else { return nil }
            state.taker = nil
            guard !state.waiting.isEmpty else { return (taker, nil) }
            let taken = state.waiting
            state.waiting = []
            (state.isTaken, state.takenBytes, state.waitingBytes) = (true, state.waitingBytes, 0)
            (state.takenSince, state.waitingSince) = (state.waitingSince, nil)
            return (taker, taken)
        }
        if let (taker, records) = handed { taker.resume(returning: records) }
    }
}

/// Packets that the ledger did not accept.
struct Unstored: Equatable {
    /// Received ones.
    var packets: UInt64 = 0
    /// Those that were dropped before, and whose gap is not stored either.
    var lost: UInt64 = 0

    init(lost: UInt64 = 0) { self.lost = lost }

    init(_ records: some Sequence<IngestRecord>) {
        for record in records {
            if record.encoding == .gap { lost += Gap(payload: record.payload.span.rawBytes)?.count ?? 0 } else { packets += 1 }
        }
    }

    static func + (left: Unstored, right: Unstored) -> Unstored {
        var sum = left
        sum.packets += right.packets
        sum.lost += right.lost
        return sum
    }
}

extension IngestRecord {
    init(_ gap: Gap) {
        self.init(gap.payload, .unreadable, reception: .live)
        encoding = .gap
    }
}
