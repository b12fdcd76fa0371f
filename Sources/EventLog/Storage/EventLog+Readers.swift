internal import LMDB

/// Another process in the middle of reading the log.
public struct LogReading: Sendable, Hashable {
    public let process: Int32
    /// Commits since it began to read. As long as it reads, the room that they freed cannot be used again, and the file grows.
    public let commitsBehind: Int
}

extension EventLog {
    /// The processes whose reading keeps freed room from being used again, the furthest behind first. A process that was stopped while it read
    /// stays here until it goes on or ends.
    public func blockingReaders() throws(EventLogError) -> [LogReading] {
        try storing { () throws(StorageError) in
            let environment = store.environment
            let last = try environment.info().lastTransaction
            var behind: [Int32: Int] = [:]
            for read in try environment.openReads() where read.transaction < last {
                behind[read.process] = max(behind[read.process] ?? 0, last - read.transaction)
            }
            return behind.map { LogReading(process: $0.key, commitsBehind: $0.value) }.sorted {
                $0.commitsBehind > $1.commitsBehind
            }
        }
    }
}
