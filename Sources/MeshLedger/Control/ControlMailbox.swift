import EventLog
import Glibc
import Synchronization

/// Messages from the tasks that process requests to the thread that serves the clients.
///
/// Synchronization: the state is behind the mutex; the pipe wakes the thread.
final class ControlMailbox: Sendable {
    struct Letters {
        /// The last progress of each client's request.
        var progress: [UInt64: ControlProgress] = [:]
        var replies: [UInt64: ControlReply] = [:]
        var isClosing = false
    }

    private let letters = Mutex(Letters())
    private let pipe: WakeUpPipe
    /// The descriptor to poll for input.
    var wakeUp: Int32 { pipe.descriptor }

    /// - Throws: `.unreachable` if there are no file descriptors left.
    init(path: String) throws(ControlError) {
        guard let pipe = WakeUpPipe() else { throw ControlError(.unreachable, path: path, number: errno) }
        self.pipe = pipe
    }

    func post(_ progress: ControlProgress, to client: UInt64) {
        letters.withLock { $0.progress[client] = progress }
        pipe.ring()
    }

    func post(_ reply: ControlReply, to client: UInt64) {
        letters.withLock { letters in
            letters.progress[client] = nil
            letters.replies[client] = reply
        }
        pipe.ring()
    }

    func beginClosing() {
        letters.withLock { $0.isClosing = true }
        pipe.ring()
    }

    func takeAll() -> Letters {
        pipe.silence()
        return letters.withLock { letters in
            let taken = letters
            letters.progress = [:]
            letters.replies = [:]
            return taken
        }
    }
}
