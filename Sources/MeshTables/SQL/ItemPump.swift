internal import Foundation
internal import Synchronization

/// Turns a walk that pushes items into one that items are pulled from: it runs on a separate thread, and pauses until items are requested.
///
/// Synchronization: the mutex; the semaphores pass the turn.
final class ItemPump<Item: Sendable>: Sendable {
    typealias Walk = @Sendable (_ take: (Item) -> Bool) throws -> Void

    private struct State {
        var items: [Item] = []
        var wanted = 0
        var isBegun = false
        var isAtEnd = false
        var failure: (any Error)?
    }

    private let walk: Walk
    private let state = Mutex(State())
    private let isWanted = DispatchSemaphore(value: 0)
    private let isThere = DispatchSemaphore(value: 0)

    init(_ walk: @escaping Walk) { self.walk = walk }

    /// The next items; fewer than requested only at the end.
    func next(_ most: Int) throws -> [Item] {
        let (isBegun, isAtEnd) = state.withLock { state in
            defer { (state.isBegun, state.wanted) = (true, most) }
            return (state.isBegun, state.isAtEnd)
        }
        guard !isAtEnd else { return [] }
        if isBegun { isWanted.signal() } else { Thread.detachNewThread { [self] in run() } }
        isThere.wait()
        return try state.withLock { state in
            defer { state.items = [] }
            if let failure = state.failure { throw failure }
            return state.items
        }
    }

    var isAtEnd: Bool { state.withLock { $0.isAtEnd } }

    /// Ends the walk; no more items are wanted.
    func stop() {
        let isWaiting = state.withLock { state in
            defer { state.wanted = 0 }
            return state.isBegun && !state.isAtEnd
        }
        if isWaiting { isWanted.signal() }
    }

    private func run() {
        var failure: (any Error)?
        do {
            try walk { item in
                let isFull = state.withLock { state in
                    state.items.append(item)
                    return state.items.count >= state.wanted
                }
                guard isFull else { return true }
                isThere.signal()
                isWanted.wait()
                return state.withLock { $0.wanted > 0 }
            }
        } catch {
            failure = error
        }
        state.withLock { ($0.isAtEnd, $0.failure) = (true, failure) }
        isThere.signal()
    }
}
