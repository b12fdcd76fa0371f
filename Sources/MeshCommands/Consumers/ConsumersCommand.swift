import ArgumentParser
import EventLog
import MeshLedger
import MeshTables
import Projections

struct ConsumersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "consumers",
        abstract: "The consumers that read events, or changes of views, with `follow`, and their positions.",
        subcommands: [ConsumersListCommand.self, ConsumersRemoveCommand.self], defaultSubcommand: ConsumersListCommand.self)
}

/// A consumer of events or of a view's changes.
private struct ConsumerLine {
    var name: String
    var view: String?
    var position: UInt64?
    var lag: UInt64?
    var lost: UInt64 = 0
    var holder: Int32?
}

struct ConsumersListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "All consumers with position and lag.")

    @OptionGroup var ledger: LedgerOption
    @OptionGroup var output: OutputOptions

    func run() async throws {
        try await ledger.reading { ledger in
            let ofEvents = try ledger.log.consumers().map {
                ConsumerLine(name: $0.name, position: $0.position.rawValue, lag: $0.lag, lost: $0.lost, holder: $0.holder)
            }
            let ofViews = try ledger.changes.consumers().map {
                ConsumerLine(name: $0.name, view: $0.view, position: $0.position?.number, lag: $0.lag, holder: $0.holder)
            }
            let writer = try output.writer([
                Column<ConsumerLine>("name") { .text($0.name) },
                Column<ConsumerLine>("view") { $0.view.map { .text($0) } ?? .null },
                Column<ConsumerLine>("acknowledged") { $0.position.map { .unsigned($0) } ?? .null },
                Column<ConsumerLine>("lag") { $0.lag.map { .unsigned($0) } ?? .null },
                Column<ConsumerLine>("lost", isDetail: true) { .unsigned($0.lost) },
                Column<ConsumerLine>("process") { $0.holder.map { .unsigned(UInt64($0)) } ?? .null },
            ])
            for consumer in ofEvents + ofViews { writer.write(consumer) }
            writer.finish(emptyNote: "no consumers")
        }
    }
}

struct ConsumersRemoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Forget a consumer and its position.",
        discussion: """
              meshledger follow consumers remove dashboard
            """)

    @OptionGroup var ledger: LedgerOption
    @Argument(help: "The consumer's name.") var name: String

    func run() async throws {
        try await ledger.reading { ledger in
            if try !ledger.changes.removeConsumer(named: name) { try ledger.log.removeConsumer(named: name) }
        }
    }
}
