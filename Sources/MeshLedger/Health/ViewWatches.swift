import EventLog
import LMDB
import Synchronization

/// The readers of the views, file by file.
///
/// Synchronization: behind the mutex.
final class ViewWatches: Sendable {
    private let watches = Mutex<[String: ReaderWatch]>([:])

    func watch(_ environment: Environment) -> ReaderWatch {
        watches.withLock { watches in
            if let known = watches[environment.path] { return known }
            let new = ReaderWatch()
            watches[environment.path] = new
            return new
        }
    }
}
