import Foundation

/// A bounded queue from a thread that reads a source to the task that appends what it read.
///
/// A full queue makes the thread wait. What comes while an append is under way is taken together next.
/// One thread offers, one task takes. `@unchecked Sendable`: all state is touched only with `condition` locked.
final class Handoff<Element: Sendable>: @unchecked Sendable {
    private let limit: Int
    private let condition = NSCondition()
    private var waiting: [Element] = []
    private var isTaken = false
    private var isClosed = false
    private var isRefused = false
    private var taker: CheckedContinuation<[Element]?, Never>?

    /// - Parameter limit: how many elements may wait before `offer` does
    init(limit: Int) { self.limit = limit }

    /// Adds an element, waiting while the queue is full. False when nobody takes any more.
    func offer(_ element: Element) -> Bool {
        condition.lock()
        defer { condition.unlock() }
        while waiting.count >= limit, !isRefused { condition.wait() }
        guard !isRefused else { return false }
        waiting.append(element)
        hand()
        return true
    }

    /// Says that nothing more comes.
    func close() {
        condition.lock()
        defer { condition.unlock() }
        isClosed = true
        hand()
    }

    /// Waits until all that was offered is settled. False when nobody takes any more.
    func waitUntilSettled() -> Bool {
        condition.lock()
        defer { condition.unlock() }
        while !isRefused, isTaken || !waiting.isEmpty { condition.wait() }
        return !isRefused
    }

    /// Whether all that was offered is settled.
    var isSettled: Bool {
        condition.lock()
        defer { condition.unlock() }
        return !isTaken && waiting.isEmpty
    }

    /// All that waits, or nil when nothing more comes. The caller settles it before it takes again.
    func takeAll() async -> [Element]? {
        await withCheckedContinuation { continuation in
            condition.lock()
            defer { condition.unlock() }
            taker = continuation
            hand()
        }
    }

    /// Says that what was taken is done with.
    func settle() {
        condition.lock()
        defer { condition.unlock() }
        isTaken = false
        condition.broadcast()
    }

    /// Says that nothing more will be taken.
    func refuse() {
        condition.lock()
        defer { condition.unlock() }
        isRefused = true
        condition.broadcast()
    }

    /// With the lock held: gives the taker what there is.
    private func hand() {
        guard let taker, !waiting.isEmpty || isClosed else { return }
        self.taker = nil
        if waiting.isEmpty {
            taker.resume(returning: nil)
        } else {
            let taken = waiting
            waiting.removeAll(keepingCapacity: true)
            isTaken = true
            taker.resume(returning: taken)
            condition.broadcast()
        }
    }
}
