import EventLog
import ProtobufWire
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
    /// - Throws: `.locked` if it does not respond, `.permission` if this user may not ask, `.missing` if there is no ledger.
    package static func sources(at path: String) async throws(LedgerError) -> [UInt8]? {
        if let answer = try await answer(.sources, at: path) { return answer.bytes }
        return try LedgerError.wrapping(path) {
            _ = try LogFolder(path: path).readCurrent()
            try ControlSocket.requireAccess(in: path)
            return nil
        }
    }

    /// The state of a ledger, from the process that writes to it. Nil if no process writes, or it does not know the state.
    /// - Throws: `.locked` if it does not respond.
    public static func condition(at path: String) async throws(LedgerError) -> LedgerHealth? {
        guard let (bytes, process) = try await answer(.status, at: path) else { return nil }
        return try? LedgerHealth(bytes.rawSpan, process: process)  // of a process that runs another version
    }

    private static func answer(
        _ request: ControlRequest, at path: String
    ) async throws(LedgerError) -> (bytes: [UInt8], process: Int32)? {
        do {
            let client = try await ControlClient(ledger: path, waitsForSuspended: false)
            return try await client.call(request).bytes.map { ($0, client.holder) }
        } catch {
            guard case .control(let error) = ControlFailure(error, path: path), let process = error.silentProcess else {
                return nil
            }
            throw LedgerError(
                EventLogError(.locked, path: path, detail: error.reason, holder: process > 0 ? process : nil))
        }
    }
}
