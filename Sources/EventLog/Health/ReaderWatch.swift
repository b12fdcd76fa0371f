package import LMDB
internal import Synchronization

/// Remembers how long readers of a file have kept freed space from being reused.
///
/// Synchronization: behind the mutex.
package final class ReaderWatch: Sendable {
    /// A process's transaction; it can begin another one only at a later commit.
    private let seen = Mutex<[OpenRead: ContinuousClock.Instant]>([:])

    package init() {}

    /// The readers of data that later commits have replaced, the furthest behind first.
    package func look(at environment: Environment, as file: String) throws(StorageError) -> [LogReading] {
        let last = try environment.extent().lastTransaction
        let reads = Set(try environment.openReads(clearingStale: false).filter { $0.transaction < last })
        let now = ContinuousClock.now
        let since = seen.withLock { seen in
            seen = Dictionary(uniqueKeysWithValues: reads.map { ($0, seen[$0] ?? now) })
            return seen
        }
        // For a process with several reads, the oldest.
        return Dictionary(grouping: since, by: \.key.process).values.compactMap { reads in
            reads.min { $0.key.transaction < $1.key.transaction }.map { oldest in
                LogReading(
                    process: oldest.key.process, file: file, commitsBehind: last - oldest.key.transaction,
                    duration: now - oldest.value)
            }
        }.sorted { $0.commitsBehind > $1.commitsBehind }
    }
}
