import Synchronization

extension Ledger {
    /// Says to other processes, through the control socket, what the live sources of this one are doing.
    ///
    /// - Parameter report: called for each question; nil when there are no sources any more
    package func reportSources(_ report: (@Sendable () -> [UInt8])?) { sourceReport.withLock { $0 = report } }
}

extension LedgerWriter {
    /// The same where this process has the ledger open; a process that writes through another one reports nothing.
    package func reportSources(_ report: (@Sendable () -> [UInt8])?) async throws {
        try await either {
            $0.reportSources(report)
        } _: { _ in
        }
    }

    /// What the live sources of the process are doing that writes to a ledger. Nil where no process writes, where it does not answer, or has no sources.
    package static func sources(at path: String) async -> [UInt8]? {
        do {
            return try await ControlClient(ledger: path).call(.sources).bytes
        } catch {
            return nil
        }
    }
}
