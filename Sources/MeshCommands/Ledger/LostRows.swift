import ArgumentParser
import EventLog
import MeshLedger

/// Writes to standard error which of the views' rows of dropped events a copy of a ledger lacks.
/// - Throws: `ExitCode` 1 if there are any, after all other work is done.
func tellLostRows(of ledger: String) async throws {
    let log = try EventLog.open(at: ledger, options: EventLogOptions(access: .readOnly))
    let problems: [String]
    do {
        problems = try Ledger.problemsOfBaselines(log)
        await log.close()
    } catch {
        await log.close()
        throw error
    }
    for problem in problems { StandardOutput.error("meshledger: \(problem)") }
    if !problems.isEmpty { throw ExitCode(ExitStatus.verificationFailed.rawValue) }
}
