internal import LMDB

extension EventLog {
    /// The processes whose reading keeps freed space from being reused, the furthest behind first. A process that was suspended while it read
    /// stays in the list until it continues or ends.
    /// - Throws: `.closed`, and errors of the file.
    public func blockingReaders() throws(EventLogError) -> [LogReading] {
        if let condition = condition() { return condition.readers }
        return try storing { () throws(StorageError) in
            try store.environment.clearStaleReaders()
            return try ReaderWatch().look(at: store.environment, as: "log").map {
                LogReading(process: $0.process, file: $0.file, commitsBehind: $0.commitsBehind, duration: nil)
            }
        }
    }

    /// The state of the log. Nil if it is read only: ask the process that writes.
    public func condition() -> LogHealth? { isReadOnly ? nil : sizes.condition() }

    /// Sets the most bytes that the log, and the files that count with it, may take; applies within seconds. If they take more, they stop growing.
    public func setSizeLimit(_ bytes: Int) { sizes.setLimit(bytes) }

    /// Counts other files, which are derived from the log and grow with it, towards its limit.
    ///
    /// - Parameters:
    ///   - bytes: their size.
    ///   - stored: the last event that they have.
    ///   - bytesOfEvent: what each later one will add.
    ///   - readers: the processes that keep freed space in them from being reused.
    package func countOthers(
        _ bytes: Int, through stored: UInt64 = .max, bytesOfEvent: Int = 0, readers: [LogReading]
    ) {
        sizes.setOthers(bytes, ExpectedBytes(stored: stored, ofEvent: bytesOfEvent), readers)
        sizes.look()
    }
}
