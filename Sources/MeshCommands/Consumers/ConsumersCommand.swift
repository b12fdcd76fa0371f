import ArgumentParser
import EventLog

struct ConsumersCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "consumers", abstract: "Who reads the events with `follow`, and how far each has come.",
        subcommands: [ConsumersListCommand.self, ConsumersRemoveCommand.self], defaultSubcommand: ConsumersListCommand.self)
}

struct ConsumersListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "list", abstract: "All consumers with position and lag.")

    @OptionGroup var ledger: LedgerOption
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let log = try ledger.openLogForReading()
        let consumers = try log.consumers()
        await log.close()
        let writer = output.writer([
            Column<ConsumerStatus>("name") { .text($0.name) },
            Column<ConsumerStatus>("acknowledged") { .unsigned($0.position.rawValue) },
            Column<ConsumerStatus>("lag") { .unsigned($0.lag) },
            Column<ConsumerStatus>("lost", isDetail: true) { .unsigned($0.lost) },
            Column<ConsumerStatus>("process") { $0.holder.map { .unsigned(UInt64($0)) } ?? .null },
        ])
        for consumer in consumers { writer.write(consumer) }
        writer.finish(emptyNote: "no consumers")
    }
}

struct ConsumersRemoveCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove", abstract: "Forget a consumer and its position.")

    @OptionGroup var ledger: LedgerOption
    @Argument(help: "The consumer's name.") var name: String

    func run() async throws {
        let log = try ledger.openLogForReading()
        try log.removeConsumer(named: name)
        await log.close()
    }
}
