import Dispatch
import EventLog
import Synchronization

/// Work for another thread, piece by piece and in order, while the caller's goes on; at most 16 pieces wait: rows are often found in bursts.
package final class WorkBehind: Sendable {
    /// Synchronization: the queue runs one piece at a time, and what a piece uses is left alone by the caller until `wait` has returned.
    private struct Piece: @unchecked Sendable {
        let work: () -> Void
    }

    /// Pieces that wait or are worked on, of all.
    private static let pieces = Atomic(0)

    private let queue = DispatchQueue(label: "work behind")
    private let room = DispatchSemaphore(value: 16)

    package init() {}

    /// Whether there is a core for another thread beside the caller's: with more threads than cores, the one that all wait for is interrupted by the others.
    static var leavesCore: Bool { (pieces.load(ordering: .relaxed) > 0 ? 2 : 1) < coreCount }

    package func add(_ work: @escaping () -> Void) {
        let piece = Piece(work: work)
        room.wait()
        Self.pieces.add(1, ordering: .relaxed)
        queue.async {
            piece.work()
            Self.pieces.subtract(1, ordering: .relaxed)
            self.room.signal()
        }
    }

    /// Waits until every piece is done.
    package func wait() { queue.sync {} }
}
