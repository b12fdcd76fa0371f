public import EventLog

/// The state of a ledger that is open for writing, as seen by the process that has it open.
public struct LedgerHealth: Sendable, Equatable {
    /// The process that writes.
    public var process: Int32
    /// The log; its readers and other bytes include those of the views.
    public var log: LogHealth
    /// How often the views failed to follow the log. They continue from their position with the next commit.
    public var failedFolds: UInt64 = 0
    /// Why they cannot follow now, or why the last commit of one of them failed; nil if they can.
    public var foldFailure: String?
    /// The last event that all views have folded, also where they had nothing to store; nil before they follow the log.
    public var foldedThrough: UInt64?

    public init(process: Int32, log: LogHealth) {
        self.process = process
        self.log = log
    }

    /// Whether the last commit of the log, or the views, failed.
    public var isDegraded: Bool { log.isDegraded || log.areWritesClosed || foldFailure != nil }
}
