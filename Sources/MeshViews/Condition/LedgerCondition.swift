public import EventLog

/// How a ledger that is open for writing fares, as the process that has it open sees it.
public struct LedgerCondition: Sendable, Equatable {
    /// The process that writes.
    public var process: Int32
    /// The log; its readers and other bytes include those of the views.
    public var log: LogCondition
    /// How often the views could not follow the log. They go on from where they were with the next commit.
    public var failedFolds: UInt64 = 0
    /// Why they cannot follow now; nil where they do.
    public var foldFailure: String?

    public init(process: Int32, log: LogCondition) {
        self.process = process
        self.log = log
    }

    /// Whether the last commit of the log, or the views, failed.
    public var isDegraded: Bool { log.isDegraded || log.areWritesClosed || foldFailure != nil }
}
