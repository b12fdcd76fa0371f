internal import LMDB

extension EventLog {
    /// The processes whose reading keeps freed room from being used again, the furthest behind first. A process that was stopped while it read
    /// stays here until it goes on or ends.
    public func blockingReaders() throws(EventLogError) -> [LogReading] {
        if let condition = condition() { return condition.readers }
        return try storing { () throws(StorageError) in
            try store.environment.clearStaleReaders()
            return try ReaderWatch().look(at: store.environment, as: "log").map {
                LogReading(process: $0.process, file: $0.file, commitsBehind: $0.commitsBehind, duration: nil)
            }
        }
    }

    /// How the log fares. Nil where it is read only: ask the process that writes.
    public func condition() -> LogCondition? { isReadOnly ? nil : sizes.condition() }

    /// Sets the most bytes that the log, and what counts with it, may take, within seconds. Where it has more already, it grows no further.
    public func setSizeLimit(_ bytes: Int) { sizes.setLimit(bytes) }

    /// Counts other files with the log, which are made of it and grow with it.
    ///
    /// - Parameters:
    ///   - bytes: what they take.
    ///   - readers: who keeps freed room in them from being used.
    package func countOthers(_ bytes: Int, readers: [LogReading]) { sizes.setOthers(bytes, readers) }
}
