import ArgumentParser
import EventLog
import Foundation
import MeshLedger
import MeshTables
import Projections

struct StatsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stats", abstract: "What the ledger holds, its size, and its views.",
        discussion: """
              meshledger stats
              meshledger stats --all
              meshledger stats --rates
              meshledger stats --format json
            """)

    @OptionGroup var ledger: LedgerOption
    @OptionGroup var output: OutputOptions
    @Flag(help: "All numbers, also those of each view, as in JSON and CSV.") var all = false
    @Flag(help: "Instead, how much each source and node sent in the last 100,000 events.") var rates = false

    struct Fact {
        var name: String
        var value: CellValue
    }

    func run() async throws {
        if rates {
            return try await ledger.reading(saying: "reading") { ledger in
                let writer = try output.writer(TrafficRates.columns)
                for row in try TrafficRates(ledger).rows { writer.write(row) }
                writer.finish(emptyNote: "no events")
            }
        }
        let (facts, views) = try await WaitingLine.during("reading", facts)
        if output.format == .table, !all {
            let writer = try output.writer([
                Column<(name: String, text: String)>("what") { .text($0.name) },
                Column<(name: String, text: String)>("state", isText: true) { .text($0.text) },
            ])
            for line in StatsSummary(facts).lines(writer.style.zone, views: views) { writer.write(line) }
            return writer.finish()
        }
        if output.format == .table || output.format == .csv {
            let writer = try output.writer([
                Column<Fact>("fact") { .text($0.name) },
                Column<Fact>("value", canCut: true, shown: { $0.value.plain }) { $0.value },
            ])
            for fact in facts { writer.write(fact) }
            writer.finish()
        } else {
            let object = CellValue.object(facts.map { CellMember(name: $0.name, value: $0.value) })
            let output = try output.target()
            output.line(object.json)
            output.finish()
        }
    }

    private func facts() async throws -> (facts: [Fact], views: [ViewStatus]) {
        var facts: [Fact] = []
        var views: [ViewStatus] = []
        try await ledger.reading { ledger in
            let head = ledger.log.head
            facts.append(Fact(name: "ledger", value: .text(ledger.path)))
            facts.append(Fact(name: "events", value: .unsigned(head.rawValue)))
            if let first = try ledger.log.event(ledger.log.first), let last = try ledger.log.event(head) {
                facts.append(Fact(name: "first_arrival", value: .second(first.header.arrivalTime.seconds)))
                facts.append(Fact(name: "last_arrival", value: .second(last.header.arrivalTime.seconds)))
            }
            facts += Self.heard(ledger)
            try facts.append(contentsOf: Self.retention(ledger))
            facts.append(Fact(name: "sources", value: .unsigned(UInt64(try ledger.log.sources().count))))
            facts += try Self.sealing(ledger)
            if let erasure = try ledger.log.pendingErasure() {
                facts.append(Fact(name: "erasure_unfinished", value: .unsigned(erasure.rawValue)))
            }
            let (condition, writer) = try await Self.writer(ledger.path)
            facts += try Self.sizes(ledger)
            facts += writer
            facts += Self.readers(try condition?.log.readers ?? ledger.log.blockingReaders())
            facts += try Self.consumers(ledger)
            views = try await ledger.maintenance.views()
            facts += views.flatMap(Self.facts(of:))
        }
        return (facts, views)
    }

    private static func sealing(_ ledger: Ledger) throws -> [Fact] {
        let sealing = try ledger.log.sealingStatistics()
        let problem = ledger.log.sealingProblem.map { Fact(name: "sealing_stopped", value: .text($0.description)) }
        return [
            Fact(name: "sealed_events", value: .unsigned(sealing.sealedEvents)),
            Fact(name: "sealed_blocks", value: .unsigned(UInt64(sealing.blocks))),
            Fact(name: "sealed_bytes", value: .unsigned(UInt64(sealing.sealedBytes))),
            Fact(name: "hot_events", value: .unsigned(sealing.hotEvents)),
            Fact(name: "hot_bytes", value: .unsigned(UInt64(sealing.hotBytes))),
        ] + (problem.map { [$0] } ?? [])
    }

    /// Of events, then of a view's changes.
    private static func consumers(_ ledger: Ledger) throws -> [Fact] {
        var facts: [Fact] = []
        for consumer in try ledger.log.consumers() {
            let name = "consumer_\(consumer.name)"
            facts.append(Fact(name: name + "_acknowledged", value: .unsigned(consumer.position.rawValue)))
            facts.append(Fact(name: name + "_lag", value: .unsigned(consumer.lag)))
            if consumer.lost > 0 { facts.append(Fact(name: name + "_lost", value: .unsigned(consumer.lost))) }
        }
        for consumer in try ledger.changes.consumers() {
            let name = "consumer_\(consumer.name)"
            facts.append(Fact(name: name + "_view", value: .text(consumer.view)))
            facts.append(Fact(name: name + "_acknowledged", value: consumer.position.map { .unsigned($0.number) } ?? .null))
            facts.append(Fact(name: name + "_lag", value: consumer.lag.map { .unsigned($0) } ?? .null))
        }
        return facts
    }

    private static func facts(of view: ViewStatus) -> [Fact] {
        var facts: [Fact] = []
        for (table, count) in view.rows.sorted(by: { $0.key < $1.key }) {
            let name = table == view.name ? "\(view.name)_rows" : "\(view.name)_\(table)_rows"
            facts.append(Fact(name: name, value: .unsigned(UInt64(count))))
        }
        facts.append(Fact(name: "\(view.name)_checkpoint", value: .unsigned(view.checkpoint)))
        facts.append(Fact(name: "\(view.name)_quarantined", value: .unsigned(view.quarantined)))
        facts.append(Fact(name: "\(view.name)_bytes", value: .unsigned(UInt64(view.size))))
        facts.append(Fact(name: "\(view.name)_stale", value: .bool(view.isStale)))
        for origin in view.origins.origins {
            let text = "rows of events up to \(origin.through) are by \(origin.recipe)"
            facts.append(Fact(name: "\(view.name)_older_rows", value: .text(text)))
        }
        if view.lost > 0 { facts.append(Fact(name: "\(view.name)_lacks_events_to", value: .unsigned(view.lost))) }
        return facts
    }

    /// When packets were heard, where more is known than when they came in.
    private static func heard(_ ledger: Ledger) -> [Fact] {
        let channels = (try? ledger.channels()) ?? []  // the other facts do without
        let rows = channels.filter { !$0.isTimeOfImport && $0.firstHeard > 0 }
        guard let first = rows.map(\.firstHeard).min(), let last = rows.map(\.lastHeard).max() else { return [] }
        return [Fact(name: "first_heard", value: .second(Int64(first))), Fact(name: "last_heard", value: .second(Int64(last)))]
    }

    private static func limit(_ ledger: Ledger) -> (bytes: UInt64?, problem: String?) {
        do throws(LedgerError) {
            return (try ledger.retention.sizeLimit().bytes.map { UInt64($0) }, nil)
        } catch {
            return (nil, error.description)
        }
    }

    private static func sizes(_ ledger: Ledger) throws -> [Fact] {
        let sizes = LedgerFiles.sizes(ledger.path)
        let (limit, problem) = Self.limit(ledger)
        let forecast = try DiskForecast(ledger.log, logBytes: sizes.log, viewBytes: sizes.views, limit: limit)
        func number(_ name: String, _ value: UInt64?) -> Fact { Fact(name: name, value: value.map { .unsigned($0) } ?? .null) }
        return (problem.map { [Fact(name: "size_limit_damaged", value: .text($0))] } ?? []) + [
            number("log_bytes", sizes.log), number("views_bytes", sizes.views), number("size_limit_bytes", limit),
            number("log_bytes_a_day", forecast.logBytesPerDay), number("views_bytes_a_day", forecast.viewBytesPerDay),
            number("disk_free_bytes", forecast.freeBytes), number("disk_full_in_days", forecast.daysToFullDisk),
            number("limit_reached_in_days", forecast.daysToLimit),
        ]
    }

    /// The state reported by the writing process, unless that is this one, which writes only if it had to build views first.
    private static func writer(_ path: String) async throws -> (condition: LedgerHealth?, facts: [Fact]) {
        do throws(LedgerError) {
            let condition = try await LedgerWriter.condition(at: path)
            return (condition, facts(condition))
        } catch {
            guard error.code == .locked else { throw error }
            let reason = (error.underlying as? EventLogError)?.detail ?? error.description
            return (
                nil,
                [
                    Fact(name: "writer", value: .integer(Int64(error.holder ?? 0))),
                    Fact(name: "writer_does_not_respond", value: .text(reason)),
                ]
            )
        }
    }

    private static func facts(_ condition: LedgerHealth?) -> [Fact] {
        guard let condition, condition.process != ProcessInfo.processInfo.processIdentifier else {
            return [Fact(name: "writer", value: .null)]
        }
        let log = condition.log
        var facts = [
            Fact(name: "writer", value: .integer(Int64(condition.process))),
            Fact(name: "degraded", value: .bool(condition.isDegraded)),
            Fact(name: "failed_commits", value: .unsigned(log.failedCommits)),
            Fact(name: "slowed_commits", value: .unsigned(log.slowedCommits)),
            Fact(name: "failed_view_folds", value: .unsigned(condition.failedFolds)),
            Fact(name: "cleared_readers", value: .unsigned(log.clearedReaders)),
        ]
        if let folded = condition.foldedThrough { facts.append(Fact(name: "views_folded_through", value: .unsigned(folded))) }
        if let failure = log.lastFailure { facts.append(Fact(name: "last_failed_commit", value: .text(failure))) }
        if log.areWritesClosed { facts.append(Fact(name: "writer_must_reopen", value: .bool(true))) }
        if let failure = condition.foldFailure { facts.append(Fact(name: "views_do_not_follow", value: .text(failure))) }
        return facts
    }

    /// The processes that keep freed space from being reused: those that have read for at least a second; without a writer that watches them, all readers.
    private static func readers(_ readers: [LogReading]) -> [Fact] {
        readers.filter { $0.duration.map { $0 >= .seconds(1) } ?? true }.flatMap { reader in
            let name = "reader_\(reader.process)" + (reader.file == "log" ? "" : "_\(reader.file)")
            var facts = [Fact(name: name + "_commits_behind", value: .unsigned(UInt64(clamping: reader.commitsBehind)))]
            if let duration = reader.duration {
                facts.append(Fact(name: name + "_blocking_seconds", value: .integer(duration.components.seconds)))
            }
            return facts
        }
    }

    private static func retention(_ ledger: Ledger) throws -> [Fact] {
        var facts: [Fact] = []
        if let retention = try ledger.retention.last()?.retention {
            facts.append(Fact(name: "first_event", value: .unsigned(retention.first.rawValue)))
            facts.append(Fact(name: "dropped_events", value: .unsigned(retention.first.rawValue - 1)))
            facts.append(Fact(name: "dropped_through_arrival", value: .second(retention.lastArrival.seconds)))
        }
        let policy: RetentionPolicy
        do throws(LedgerError) {
            policy = try ledger.retention.policy()
        } catch {
            return facts + [Fact(name: "retention_damaged", value: .text(error.description))]
        }
        if let seconds = policy.longestSeconds {
            facts.append(Fact(name: "retention_older_than", value: .text(DurationArgument(seconds: seconds).text)))
        }
        if let bytes = policy.largestBytes {
            facts.append(Fact(name: "retention_larger_than_bytes", value: .unsigned(UInt64(bytes))))
        }
        return facts
    }
}
