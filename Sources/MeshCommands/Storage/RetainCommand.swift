import ArgumentParser
import EventLog
import Foundation
import MeshLedger
import Projections

struct RetainCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retain", abstract: "Drop the oldest events, once or as a policy. Off unless you set it.",
        discussion: """
            By default all events are kept for ever. Dropping is final, in multiples of 256 events; an event in the log records
            which were dropped. Their rows in views stay, as a baseline from which a later rebuild
            starts. Rows that an older recipe (code, caps, keys) made are marked (`older_recipe` in JSON and CSV). The tree keeps its
            hashes: `verify`, older checkpoints and proofs of kept events work as before.

            An age counts from an event's arrival to the log's own time: the clock's, as long as events confirm it. A jump of the clock does
            not age events. If it is ahead of the events by more than a pause (a quarter of the age, 36 hours at most), ages count from the
            last earlier events, until events have arrived at the new time for a week (for the age, if that is shorter). The command reports events that wait for this;
            --trust-clock drops it anyway. A size is that of the log's rows, without the free space in its file; the space of dropped
            events is reused for new ones, `meshledger storage compact` returns it to the file system. A checkpoint that was made while the ledger
            could not be written can be compared later only if you name its note here with --checkpoint.

              meshledger storage retain --older-than 1y --dry-run
              meshledger storage retain --larger-than 10GB --yes
              meshledger storage retain --policy --older-than 90d
              meshledger storage retain --off
            """)

    @OptionGroup var ledger: LedgerOption
    @Option(help: ArgumentHelp("Drop events that arrived longer ago: 90d, 12h, 1y.", valueName: "age")) var olderThan:
        DurationArgument?
    @Option(help: ArgumentHelp("Drop the oldest events of a log that takes more: 10GB, 500MB.", valueName: "size"))
    var largerThan: SizeArgument?
    @Flag(help: "Count ages from the clock, even if no events confirm it.") var trustClock = false
    @Flag(help: "Only report what would be dropped.") var dryRun = false
    @Flag(help: "Do not ask.") var yes = false
    @Flag(help: "Keep this as a policy, which the process that writes to the ledger applies each hour.") var policy = false
    @Flag(help: "Remove the policy: nothing more is dropped.") var off = false
    @Option(
        help: ArgumentHelp("The note of a checkpoint that must stay comparable afterwards; may be repeated.", valueName: "file"),
        completion: .file())
    var checkpoint: [String] = []

    func validate() throws {
        let hasLimit = olderThan != nil || largerThan != nil
        if off && (hasLimit || policy || dryRun) { throw ValidationError("--off cannot be combined with other arguments") }
        if policy && !hasLimit { throw ValidationError("a policy needs --older-than or --larger-than") }
        if trustClock && (policy || olderThan == nil) { throw ValidationError("--trust-clock goes with a single cut by age") }
        if (policy || off) && !checkpoint.isEmpty {
            throw ValidationError("--checkpoint goes with a single cut, not with a policy")
        }
    }

    private var wanted: RetentionPolicy {
        RetentionPolicy(longestSeconds: olderThan?.seconds, largestBytes: largerThan?.bytes)
    }

    func run() async throws {
        if off || (policy && !dryRun) { return try await keep(off ? RetentionPolicy() : wanted) }
        let sizes = try checkpointSizes()
        if wanted.isOff { return try await show() }
        if dryRun {
            return try await ledger.reading { ledger in
                let plan = try plannedNow(in: ledger)
                try await report(plan, in: ledger)
            }
        }
        try await ledger.writing { ledger in
            let plan = try await ledger.reading { ledger in
                let found = try plannedNow(in: ledger)
                try await report(found, in: ledger)
                return found
            }
            guard let plan else { return }
            try confirm()
            let bar = ProgressBar("making baselines")
            let done = try await ledger.retain(through: plan.last, keeping: sizes) { progress in
                bar.show(fraction: progress.fraction, done: progress.position - progress.start, unit: "events")
            }
            bar.end()
            StandardOutput().line("dropped \(done.count.counted("event")); the first that is kept is \(done.first)")
        }
    }

    private func plannedNow(in ledger: Ledger) throws -> RetentionPlan? {
        if trustClock { return try ledger.retention.plan(wanted, trustsClock: true) }
        let now = Timestamp.now
        let outlook = try ledger.retention.outlook(wanted, now: now)
        if outlook.byClock != nil {
            let output = StandardOutput()
            output.line(outlook.heldBackText(ledger.path, now: now))
            output.flush()
        }
        return outlook.plan
    }

    private func report(_ plan: RetentionPlan?, in ledger: Ledger) async throws {
        let output = StandardOutput()
        defer { output.flush() }
        guard let plan else {
            let (size, count) = (try ledger.log.size(), ledger.log.head.rawValue + 1 - ledger.log.first.rawValue)
            let reason =
                count < 256
                ? "events go in multiples of 256, and the log has \(count.grouped)" : "its 256 oldest events are within the limit"
            return output.line("nothing to drop: the log takes \(size.counted("byte")); \(reason)")
        }
        let times = [plan.firstArrival, plan.lastArrival].map { TimeText.iso($0.seconds) }
        let arrival = times[0] == times[1] ? "at \(times[0])" : "from \(times[0]) to \(times[1])"
        let (first, verb) = (ledger.log.first, dryRun ? "would go" : "go")
        output.line("events \(first) to \(plan.last) \(verb), \(plan.count) that arrived \(arrival)")
        output.line("they take about \(plan.bytes.grouped) of the \(plan.logBytes.counted("byte")) of the log's rows")
        let views = try await ledger.maintenance.views().map(\.name).joined(separator: ", ")
        output.line("what \(views) had made of them stays, as baselines after event \(plan.last)")
    }

    private func confirm() throws {
        guard !yes else { return }
        guard Consent.canAsk else { throw CommandError(.usage, "use --yes to drop them for good, or --dry-run to only look") }
        guard Consent.isGiven("drop them for good?") else { throw CommandError(.declined, "nothing was dropped") }
    }

    private func checkpointSizes() throws -> [UInt64] {
        try checkpoint.map { path in
            guard let checkpoint = LogCheckpoint(try NoteFile.note(path)) else {
                throw CommandError(.badData, "\(path) is not a checkpoint of a ledger")
            }
            return checkpoint.size
        }
    }

    private func keep(_ policy: RetentionPolicy) async throws {
        // Another process may be writing; it reads the policy each time.
        let log = try ledger.openLogForReading()
        await log.close()
        try policy.save(in: ledger.path)
        StandardOutput().line(Self.text(policy))
    }

    private func show() async throws {
        let log = try ledger.openLogForReading()
        let retention = try log.retention()?.retention
        await log.close()
        let output = StandardOutput()
        output.line(Self.text(try RetentionPolicy.load(from: ledger.path)))
        if let retention {
            output.line(
                "events 1 to \(retention.first.advanced(by: -1)) were dropped, the last of them arrived at "
                    + TimeText.iso(retention.lastArrival.seconds))
        }
    }

    static func text(_ policy: RetentionPolicy) -> String {
        var limits: [String] = []
        if let seconds = policy.longestSeconds { limits.append("what is older than \(DurationArgument(seconds: seconds).text)") }
        if let bytes = policy.largestBytes { limits.append("the oldest of what takes more than \(bytes.counted("byte"))") }
        guard !limits.isEmpty else { return "no retention policy: all events are kept" }
        return "whatever writes to the ledger drops " + limits.joined(separator: ", and ")
    }
}
