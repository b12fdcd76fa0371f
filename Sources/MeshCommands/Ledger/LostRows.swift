import ArgumentParser
import EventLog
import MeshLedger

/// Writes to standard error which of the views' rows of dropped events a ledger, or a copy of one, lacks.
/// - Parameter views: only of these; nil for all.
/// - Throws: `ExitCode` 1 if there are any, after all other work is done.
func reportLostRows(of ledger: String, views: Set<String>? = nil) async throws {
    let log = try EventLog.open(at: ledger, options: EventLogOptions(access: .readOnly))
    let problems: [String]
    do {
        problems = try Ledger.Maintenance.problemsOfBaselines(log, of: views)
        await log.close()
    } catch {
        await log.close()
        throw error
    }
    for problem in problems { StandardOutput.error("meshledger: \(problem)") }
    if !problems.isEmpty { throw ExitCode(ExitStatus.verificationFailed.rawValue) }
}

/// Writes to standard error that a copy has only the events that a log still has.
/// - Parameter last: the last event that retention has dropped.
func reportDropped(through last: UInt64, of log: EventLog, by copy: String) {
    guard last > 0 else { return }
    StandardOutput.error(
        "meshledger: \(log.path) has dropped events 1 to \(last): neither they nor the views' rows of them are in \(copy); `meshledger backup` copies the rows"
    )
}
