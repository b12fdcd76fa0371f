internal import LMDB
internal import Synchronization

/// Work that was prepared beside the writer and moves into the log with the writer's next transaction: a separate transaction would cost
/// appends a sync.
protocol PreparedWork: Sendable {
    /// Writes what was prepared. Bounded, since an append waits for it.
    func move(into write: inout WriteTransaction, _ store: LogStore) throws(StorageError)

    /// Called once by the writer when the transaction is durable, or with the reason why it is not: then nothing was moved, and the work's owner
    /// starts over from what is stored.
    func ended(_ failure: StorageError?)
}

/// Work that waits for the writer's next transaction.
///
/// Synchronization: behind the mutex.
final class PreparedWorkBox: Sendable {
    private let works = Mutex<[any PreparedWork]>([])

    func add(_ work: any PreparedWork) { works.withLock { $0.append(work) } }

    var isEmpty: Bool { works.withLock { $0.isEmpty } }

    func takeAll() -> [any PreparedWork] {
        works.withLock { works in
            defer { works = [] }
            return works
        }
    }
}
