import Foundation

/// A bounded queue from a thread that reads a source to the task that appends what it read.
///
/// A full queue makes the thread wait: it is full at its maximum number of elements, or of bytes, including those that are being appended.
/// Everything that arrives during an append is taken together next.
/// One thread offers, one task takes. `@unchecked Sendable`: all state is touched only with `condition` locked.
final class Handoff<Element: Sendable>: @unchecked Sendable {
    private let limit: Int
    private let byteLimit: Int
    private let condition = NSCondition()
    private var waiting: [Element] = []
    private var waitingBytes = 0
    private var takenBytes = 0
    private var isTaken = false
    /// The arrival time of the oldest element among those taken, and among those waiting.
    private var takenSince: ContinuousClock.Instant?
    private var waitingSince: ContinuousClock.Instant?
    private var isClosed = false
    private var isRefused = false
    private var taker: CheckedContinuation<[Element]?, Never>?

    /// - Parameters:
    ///   - limit: how many elements may wait before `offer` does
    ///   - byteLimit: how many bytes may wait or be under way before `offer` does
    init(limit: Int, byteLimit: Int = .max) { (self.limit, self.byteLimit) = (limit, byteLimit) }

    /// Adds an element, waiting while the queue is full. An element above the byte limit waits until it is alone. False when the taker has stopped.
    func offer(_ element: Element, byteCount: Int = 0) -> Bool {
        condition.lock()
        defer { condition.unlock() }
        while !hasRoom(byteCount), !isRefused { condition.wait() }
        guard !isRefused else { return false }
        waiting.append(element)
        if waitingSince == nil { waitingSince = .now }
        waitingBytes += byteCount
        hand()
        return true
    }

    /// Signals the end of the elements.
    func close() {
        condition.lock()
        defer { condition.unlock() }
        isClosed = true
        hand()
    }

    /// Waits until everything that was offered is settled. False when the taker has stopped.
    func waitUntilSettled() -> Bool {
        condition.lock()
        defer { condition.unlock() }
        while !isRefused, isTaken || !waiting.isEmpty { condition.wait() }
        return !isRefused
    }

    /// Whether everything that was offered is settled.
    var isSettled: Bool {
        condition.lock()
        defer { condition.unlock() }
        return !isTaken && waiting.isEmpty
    }

    /// How long the oldest element that is not settled yet has waited.
    var lagSeconds: Double {
        condition.lock()
        defer { condition.unlock() }
        return (takenSince ?? waitingSince).map { $0.duration(to: .now) / .seconds(1) } ?? 0
    }

    /// All waiting elements, or nil at the end. The caller settles them before it takes again.
    func takeAll() async -> [Element]? {
        await withCheckedContinuation { continuation in
            condition.lock()
            defer { condition.unlock() }
            taker = continuation
            hand()
        }
    }

    /// Signals that the taken elements are done with.
    func settle() {
        condition.lock()
        defer { condition.unlock() }
        (isTaken, takenBytes, takenSince) = (false, 0, nil)
        condition.broadcast()
    }

    /// Signals that no further elements will be taken.
    func refuse() {
        condition.lock()
        defer { condition.unlock() }
        isRefused = true
        condition.broadcast()
    }

    private func hasRoom(_ byteCount: Int) -> Bool {
        let held = waitingBytes + takenBytes
        return waiting.count < limit && (held == 0 || held < byteLimit && byteCount <= byteLimit - held)
    }

    /// With the lock held: passes the waiting elements to the taker.
    private func hand() {
        guard let taker, !waiting.isEmpty || isClosed else { return }
        self.taker = nil
        if waiting.isEmpty {
            taker.resume(returning: nil)
        } else {
            let taken = waiting
            waiting.removeAll(keepingCapacity: true)
            (isTaken, takenBytes, waitingBytes) = (true, waitingBytes, 0)
            (takenSince, waitingSince) = (waitingSince, nil)
            taker.resume(returning: taken)
            condition.broadcast()
        }
    }
}
