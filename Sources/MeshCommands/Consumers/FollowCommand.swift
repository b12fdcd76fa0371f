import ArgumentParser
import EventLog
import MeshIngest
import MeshLedger
import ProtobufWire

/// The lines that `follow` writes.
enum FeedFormat: String, NamedChoice {
    case jsonl, csv
}

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
            Writes the lines of `export events`, or with --decoded each event's packet and content, then waits for more until SIGINT or SIGTERM, even while another process writes. The position is
            stored under the consumer's name when the program has read all of a batch from its pipe or Unix socket, or a file has it on the disk:
            whatever ends the command or the program, the next run continues there. Over a network, it counts when the other computer has it.
            Every event is delivered at least once, in order; after a kill the last batch is delivered again.

            With --view it feeds the changes of a view instead: all rows first, then every row that is stored ("op":"put") or removed
            ("op":"delete"), by its key; also after the view was rebuilt. If changes are no longer kept it ends with status 66; with
            --restart it first tells the program to drop everything ("op":"reset") and starts again with all rows.

              meshledger follow --consumer analytics | my-loader
              meshledger follow --consumer table --decoded --format csv | my-loader
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
    @Option(help: ArgumentHelp("Feed the changes of this view.", valueName: "name"), completion: .list(Ledger.viewNames))
    var view: String?
    @Option(name: .shortAndLong, help: ArgumentHelp("jsonl, or csv, which begins with the columns' names.", valueName: "format"))
    var format = FeedFormat.jsonl
    @Flag(help: "Decode each event: its packet's header, and its content; by default it is raw.") var decoded = false
    @Flag(help: "With --view: begin with all rows again.") var restart = false
    @Flag(help: "If retention dropped unread events, continue with the first kept one and report how many were lost.")
    var skipDropped = false
    @Option(help: "The most events between two acknowledgements.") var batch = 1_000
    @Flag(inversion: .prefixedNo, help: "Wait for new events, or end at the last one.") var follow = true

    func validate() throws {
        guard (1...100_000).contains(batch) else { throw ValidationError("a batch has 1 to 100000 events") }
        if restart, view == nil { throw ValidationError("--restart goes with --view") }
        if view != nil, decoded || format == .csv {
            throw ValidationError("--decoded and csv are for events; views have JSON lines")
        }
        if view != nil, skipDropped { throw ValidationError("--skip-dropped is for events") }
        if view != nil, case .sequence = from.start { throw ValidationError("changes of a view are followed from start or now") }
    }

    func run() async throws {
        ReaderWatch.begin()
        if let view { return try await followView(view) }
        if decoded {
            try await ledger.reading { _ in }  // updates the views if no other process does
            let opened = try await Ledger.open(at: ledger.path, options: CustomViews.options(access: .readOnly))
            return try await ledger.using(opened) { try await feed($0.log, EventRows($0, with: .content)) }
        }
        let log = try ledger.openLogForReading()
        do {
            try await feed(log, nil)
        } catch {
            await log.close()
            throw error
        }
        await log.close()
    }

    private func feed(_ log: EventLog, _ rows: EventRows?) async throws {
        do {
            let consumer = try log.consumer(named: consumer, from: from.start, skipsDropped: skipDropped)
            let (batch, follow, name) = (batch, follow, self.consumer)
            let feed = ConsumerFeed(log, format, rows)
            _ = try await StopSignals.cancelling {
                try await ReaderWatch.endingIfStuck {
                    var lost: UInt64 = 0
                    while !Task.isCancelled {
                        let events = try follow ? await consumer.next(limit: batch) : consumer.available(limit: batch)
                        guard let events, let last = events.last else { return }
                        if consumer.lost > lost {
                            StandardOutput.error(
                                "meshledger: retention dropped \((consumer.lost - lost).counted("event")) that \(name) had not read"
                            )
                            lost = consumer.lost
                        }
                        guard try await feed.deliver(events) else { return }
                        try consumer.acknowledge(through: last.sequence)
                    }
                }
            }
            consumer.close()
        }
    }
}

/// Writes events as lines and hands them to the reader.
///
/// Synchronization: only the one task that reads the consumer's events uses it.
private final class ConsumerFeed: @unchecked Sendable {
    private let log: EventLog
    private let output = StandardOutput()
    private var names: [UInt32: String] = [:]
    private var line: [UInt8] = []

    private let rows: EventRows?
    /// Nil for raw JSON lines.
    private let writer: RowWriter<EventRow>?

    /// - Parameter rows: decodes the events; nil for raw ones.
    init(_ log: EventLog, _ format: FeedFormat, _ rows: EventRows?) {
        (self.log, self.rows) = (log, rows)
        let columns = rows == nil ? EventRow.rawColumns : EventRow.columns + [EventRow.contentColumn]
        let isRaw = rows == nil && format == .jsonl
        writer = isRaw ? nil : RowWriter(columns, format: format == .csv ? .csv : .jsonl, output: output)
        output.endTornLine()
    }

    /// - Returns: False if it was cancelled before the program at the other end had read all of them.
    func deliver(_ events: [Event]) async throws -> Bool {
        for event in events {
            if let rows, let writer {
                writer.write(rows.row(event))
                continue
            }
            let source = event.header.source.rawValue
            if names[source] == nil { try readNames() }
            if let writer {
                let name = EventRows.name(event.header.source, in: names)
                writer.write(EventRow(header: event.header, source: name, payload: Base64.text(event.payload.rawSpan)))
                continue
            }
            line.removeAll(keepingCapacity: true)
            LedgerLine.append(
                event.header, source: EventRows.name(event.header.source, in: names), payload: event.payload.rawSpan, to: &line)
            output.write(line)
        }
        return try await output.deliver()
    }

    private func readNames() throws {
        names = Dictionary(try log.sources().map { ($0.id.rawValue, $0.name) }) { $1 }
    }
}
