internal import Synchronization

/// The store of the current generation. Each operation gets it from here: a store that was replaced stays readable for its
/// holders, and its file is closed when the last of them releases it.
///
/// Synchronization: behind the mutex.
final class StoreBox: Sendable {
    private let box: Mutex<LogStore>

    init(_ store: LogStore) { box = Mutex(store) }

    var store: LogStore { box.withLock { $0 } }

    func replace(with store: LogStore) {
        let old = box.withLock { current in
            defer { current = store }
            return current
        }
        _ = consume old  // closed outside the lock
    }
}
