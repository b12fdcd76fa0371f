import ArgumentParser
import EventLog
import MeshLedger

struct RestoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore", abstract: "Make a ledger from a backup.",
        discussion: """
            The restored ledger has the identifier, events, sources, import marks and tree of the one that was backed up: its checkpoints and
            proofs hold. Events that were erased before the backup's last run stay erased, even if an earlier state is restored; --erasures-of
            also carries out what was erased later in another copy of the ledger, in the events and in the rows of events that retention had dropped. Of a hidden
            request only the events that it names are known: repeat it here if retention had dropped others. Until it is complete the ledger is called
            NEW.restoring. Ends with status 1 if the backup lacks views' rows of events that retention had dropped.

            --until TIME refers to arrival: it restores the ledger as it was at that time, with the events that had arrived, whenever the mesh had heard them. Events
            imported later from an older recording are left out. `--as-of TIME` of lists refers to when packets were heard.

            If the backup has no signing key, the restored ledger creates a new one. Older notes are verified with the old public key (--key of `verify`); for
            erasures carried out here since, `verify` then says that another key signed them.

              meshledger restore /srv/backup/mesh restored.ledger
              meshledger restore --until 2026-01-31 /srv/backup/mesh january.ledger
            """)

    @Option(
        help: ArgumentHelp(
            "Up to this event, or up to this time, by when events arrived in the ledger (not when they were heard).",
            valueName: "sequence|time")) var until: String?
    @Option(
        help: ArgumentHelp("A later copy of the ledger, whose erasures are carried out.", valueName: "ledger"),
        completion: .directory)
    var erasuresOf: String?
    @Argument(help: "The backup's folder.", completion: .directory) var folder: String
    @Argument(help: "The new ledger's folder, which does not exist yet.", completion: .directory) var new: String

    func run() async throws {
        let (erasures, firstThere) = try await erasures()
        try makeParent(of: new)
        let bar = ProgressBar("restoring")
        let report: RestoreReport
        do {
            report = try await EventLog.restore(folder, to: new, until: end(), erasures: erasures) {
                (log, erasures) async throws(EventLogError) in
                try await Ledger.Erasures.apply(erasures, to: log)
            } progress: {
                bar.show($0)
            }
        } catch {
            bar.end()
            throw error
        }
        bar.end()
        let output = StandardOutput()
        let count = report.eventCount - (report.first.rawValue - 1)
        let from = report.first.rawValue > 1 ? ", from event \(report.first) on" : ""
        output.line("\(count.counted("event is", "events are")) in \(new)\(from); its views are built when it is read")
        if report.erased > 0 {
            output.line(
                "\(report.erased.counted("event that was erased later is", "events that were erased later are")) erased in it, too"
            )
        }
        let hidden = report.applied.filter(\.isHidden).map { "\($0.sequence)" }
        if !hidden.isEmpty, max(report.first, firstThere).rawValue > 1 {
            output.line(
                "the request of an erasure is hidden (event \(hidden.joined(separator: ", "))): what its ledger had dropped before may be left of it here; repeat "
                    + "the request with `meshledger erase`")
        }
        if !report.hasSigningKey {
            output.line(
                "the backup has no signing key: new checkpoints are signed with a new one, older ones verify with the old public key"
            )
        }
        if !report.hasKeys { output.line("the backup has no channel keys: add them with `meshledger keys add`") }
        output.flush()
        try await reportLostRows(of: new)
    }

    private func end() throws -> RestoreEnd? {
        guard let until else { return nil }
        if let sequence = UInt64(until) { return .sequence(EventSequence(sequence)) }
        guard let time = TimeArgument(until) else {
            throw ValidationError("--until is the number of an event, or a time: \(TimeArgument.refusal(until))")
        }
        return .time(time.time)
    }

    /// The erasures of the other copy, and the first event that it has.
    private func erasures() async throws -> ([Erasure], first: EventSequence) {
        guard let erasuresOf else { return ([], EventSequence(1)) }
        let log = try EventLog.open(at: erasuresOf, options: EventLogOptions(access: .readOnly))
        do {
            let ledger = try EventLog.ledger(ofBackup: folder)
            guard log.identifier == ledger else {
                throw CommandError(
                    .usage,
                    "--erasures-of \(erasuresOf) is the ledger \(log.identifier); the backup \(folder) is of the ledger \(ledger)"
                )
            }
            let erasures = try log.erasures()
            await log.close()
            return (erasures, log.first)
        } catch {
            await log.close()
            throw error
        }
    }
}
