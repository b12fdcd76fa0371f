import EventLog
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

    /// What the live sources of the process that writes to a ledger are doing. Nil if no process writes, or it has no sources.
    /// - Throws: `.locked` if it does not respond.
    package static func sources(at path: String) async throws(EventLogError) -> [UInt8]? {
        do {
            return try await ControlClient(ledger: path).call(.sources).bytes
        } catch let error as ControlError where error.isSilence {
            throw EventLogError(.locked, path: path, detail: error.reason)
        } catch ControlFailure.control(let error) where error.isSilence {
            throw EventLogError(.locked, path: path, detail: error.reason)
        } catch {
            return nil
        }
    }
}
