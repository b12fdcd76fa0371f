import Dispatch

/// Work for another thread, piece by piece and in order, while the caller's goes on; at most a few pieces wait.
package final class WorkBehind: Sendable {
    /// Synchronization: the queue runs one piece at a time, and what a piece uses is left alone by the caller until `wait` has returned.
    private struct Piece: @unchecked Sendable {
        let work: () -> Void
    }

    private let queue = DispatchQueue(label: "work behind")
    private let room = DispatchSemaphore(value: 4)

    package init() {}

    package func add(_ work: @escaping () -> Void) {
        let piece = Piece(work: work)
        room.wait()
        queue.async {
            piece.work()
            self.room.signal()
        }
    }

    /// Waits until every piece is done.
    package func wait() { queue.sync {} }
}
