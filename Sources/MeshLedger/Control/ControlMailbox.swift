import Glibc
import Synchronization

/// Messages from the tasks that process requests to the thread that serves the clients.
///
/// Synchronization: the state is behind the mutex; a byte in a pair of sockets wakes the thread.
final class ControlMailbox: Sendable {
    struct Letters {
        /// The last progress of each client's request.
        var progress: [UInt64: ControlProgress] = [:]
        var replies: [UInt64: ControlReply] = [:]
        var isClosing = false
    }

    private let letters = Mutex(Letters())
    /// The thread reads from it.
    let wakeUp: Int32
    private let rope: Int32

    /// - Throws: `.unreachable` if there are no file descriptors left.
    init(path: String) throws(ControlError) {
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        guard unsafe socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw ControlError(.unreachable, path: path, number: errno) }
        wakeUp = ends[0]
        rope = ends[1]
    }

    deinit {
        close(wakeUp)
        close(rope)
    }

    func post(_ progress: ControlProgress, to client: UInt64) {
        letters.withLock { $0.progress[client] = progress }
        ring()
    }

    func post(_ reply: ControlReply, to client: UInt64) {
        letters.withLock { letters in
            letters.progress[client] = nil
            letters.replies[client] = reply
        }
        ring()
    }

    func beginClosing() {
        letters.withLock { $0.isClosing = true }
        ring()
    }

    func takeAll() -> Letters {
        var bytes = [UInt8](repeating: 0, count: 64)
        while unsafe read(wakeUp, &bytes, bytes.count) > 0 {}
        return letters.withLock { letters in
            let taken = letters
            letters.progress = [:]
            letters.replies = [:]
            return taken
        }
    }

    private func ring() {
        // If there is no room for another byte, the wake-up is already pending.
        _ = unsafe write(rope, [1], 1)
    }
}
