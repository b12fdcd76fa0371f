import Synchronization

extension Ledger {
    /// Reports to other processes, through the control socket, what the live sources of this one are doing.
    ///
    /// - Parameter report: called for each request; nil when there are no more sources.
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

    /// What the live sources of the process that writes to a ledger are doing. Nil if no process writes, it does not answer, or it has no sources.
    package static func sources(at path: String) async -> [UInt8]? {
        do {
            return try await ControlClient(ledger: path).call(.sources).bytes
        } catch {
            return nil
        }
    }
}
