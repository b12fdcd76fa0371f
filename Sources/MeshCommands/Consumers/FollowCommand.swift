import ArgumentParser
import EventLog
import MeshIngest
import ProtobufWire

/// Where a new consumer begins: start, now or a sequence.
struct StartArgument: ExpressibleByArgument {
    var start: ConsumerStart

    init(_ start: ConsumerStart) { self.start = start }

    init?(argument: String) {
        switch argument {
        case "start": start = .start
        case "now": start = .now
        default:
            guard let sequence = UInt64(argument), sequence > 0 else { return nil }
            start = .sequence(EventSequence(sequence))
        }
    }

    var defaultValueDescription: String { "start" }
}

struct FollowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "follow", abstract: "Feed events, or changes of a view, to a program.",
        discussion: """
            Writes the lines of `export events`, then waits for more until SIGINT or SIGTERM, also beside a running writer. The position is
            kept under the consumer's name after each batch that was written: whatever ends the command, the next run continues there.
            Every event comes at least once, in order; after a kill the last batch comes again.

            With --view it feeds the changes of a view instead: all rows first, then every row that is stored ("op":"put") or removed
            ("op":"delete"), by its key; also after the view was rebuilt. If changes are no longer kept it ends with status 66; with
            --restart it first tells the program to drop everything ("op":"reset") and begins with all rows.

              meshledger follow --consumer analytics | my-loader
              meshledger follow --consumer nightly --no-follow >> events.jsonl
              meshledger follow --consumer map --view positions | my-map
              meshledger follow consumers
            """,
        subcommands: [FollowFeedCommand.self, ConsumersCommand.self], defaultSubcommand: FollowFeedCommand.self)
}

struct FollowFeedCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "feed", abstract: "Feed all events to another program, continuing where it stopped.")

    @OptionGroup var ledger: LedgerOption
    @Option(help: "The name under which the position is kept: letters, digits, - and _.") var consumer: String
    @Option(help: ArgumentHelp("Where a new consumer begins: start, now, or the first event's sequence.", valueName: "place"))
    var from = StartArgument(.start)
    @Option(help: ArgumentHelp("Feed the changes of this view.", valueName: "name")) var view: String?
    @Flag(help: "With --view: begin with all rows again.") var restart = false
    @Flag(help: "Continue with the first kept event if retention dropped unread ones, and report how many.")
    var skipDropped = false
    @Option(help: "The most events between two acknowledgements.") var batch = 1_000
    @Flag(inversion: .prefixedNo, help: "Wait for new events, or end at the last one.") var follow = true

    func validate() throws {
        guard (1...100_000).contains(batch) else { throw ValidationError("a batch has 1 to 100000 events") }
        if restart, view == nil { throw ValidationError("--restart goes with --view") }
        if view != nil, skipDropped { throw ValidationError("--skip-dropped is for events") }
        if view != nil, case .sequence = from.start { throw ValidationError("changes of a view are followed from start or now") }
    }

    func run() async throws {
        if let view { return try await followView(view) }
        let log = try ledger.openLogForReading()
        do {
            let consumer = try log.consumer(named: consumer, from: from.start, skipsDropped: skipDropped)
            let (batch, follow, name) = (batch, follow, self.consumer)
            _ = try await StopSignals.cancelling {
                let feed = ConsumerFeed(log)
                var lost: UInt64 = 0
                while !Task.isCancelled {
                    let events = try follow ? await consumer.next(limit: batch) : consumer.available(limit: batch)
                    guard let events, let last = events.last else { return }
                    if consumer.lost > lost {
                        StandardOutput.error(
                            "meshledger: retention dropped \(consumer.lost - lost) events that \(name) had not read")
                        lost = consumer.lost
                    }
                    try feed.write(events)
                    try consumer.acknowledge(through: last.sequence)
                }
            }
            consumer.close()
        } catch {
            await log.close()
            throw error
        }
        await log.close()
    }
}

/// Writes events as lines and makes sure that they are passed on.
private final class ConsumerFeed {
    private let log: EventLog
    private let output = StandardOutput()
    private var names: [UInt32: String] = [:]
    private var line: [UInt8] = []

    init(_ log: EventLog) { self.log = log }

    func write(_ events: [Event]) throws {
        for event in events {
            let source = event.header.source.rawValue
            if names[source] == nil { try readNames() }
            line.removeAll(keepingCapacity: true)
            LedgerLine.append(
                event.header, source: EventRows.name(event.header.source, in: names), payload: event.payload.rawSpan, to: &line)
            output.write(line)
        }
        output.flush()
        try output.sync()
    }

    private func readNames() throws {
        names = Dictionary(try log.sources().map { ($0.id.rawValue, $0.name) }) { $1 }
    }
}
