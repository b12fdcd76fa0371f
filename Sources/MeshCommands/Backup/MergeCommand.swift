import ArgumentParser
import EventLog
import MeshLedger

struct MergeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "merge", abstract: "Merge ledgers from several places into a new one.",
        discussion: """
            Every event once, in an order that does not depend on that of the ledgers, with its times and its origin. Any order
            of merging gives the same new ledger, and merging again adds nothing. Sources of different ledgers stay distinct: NAME @LEDGER. Events that were
            erased in one of them are erased in the new one. Until it is complete it is called NEW.merging.

              meshledger merge roof.ledger hill.ledger --into both.ledger
            """)

    @Option(help: ArgumentHelp("The new ledger's folder, which does not exist yet.", valueName: "folder"), completion: .directory)
    var into: String
    @Argument(help: "The ledgers, which are only read.", completion: .directory) var ledgers: [String]

    func run() async throws {
        try makeParent(of: into)
        var logs: [EventLog] = []
        let outcome: Result<MergeReport, any Error>
        let bar = ProgressBar("merging")
        do {
            for path in ledgers where !logs.contains(where: { $0.path == path }) {
                logs.append(try EventLog.open(at: path, options: EventLogOptions(access: .readOnly)))
            }
            let options = EventLogOptions(summariser: .meshtastic)
            outcome = .success(try await EventLog.merge(logs, into: into, options: options) { bar.show($0) })
        } catch {
            outcome = .failure(error)
        }
        bar.end()
        if case .success = outcome { for log in logs { reportDropped(through: log.first.rawValue - 1, of: log, by: into) } }
        for log in logs { await log.close() }
        let report = try outcome.get()
        let output = StandardOutput()
        let (ledgers, events) = (report.ledgers.count.counted("ledger"), report.eventCount)
        output.line(
            "\(events.counted("event")) of \(ledgers) \(events == 1 ? "is" : "are") in \(into); its views are built when it is read"
        )
        if report.duplicates > 0 {
            output.line(
                "\(report.duplicates.counted("was in several of them and is", "were in several of them and are")) there once")
        }
        if report.erased > 0 { output.line("\(report.erased.grouped) had been erased") }
    }
}
