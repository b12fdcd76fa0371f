import ArgumentParser
import EventLog
import MeshLedger
import Meshtastic
import Projections

/// A list of the log's content that can follow what arrives.
protocol LiveList: RowList {
    var following: FollowOption { get }
    var selection: SelectionOptions { get }
    var by: EventOrder.Clock { get }

    /// What an event adds to the list; nil for nothing.
    /// - Parameter news: false for one from before, so that later ones are known as repeats.
    func live(_ ledger: Ledger) throws -> (_ row: EventRow, _ isNew: Bool) -> Row?
    func liveColumns() -> [Column<Row>]

    /// Says what is asked for and not there yet; nil for nothing.
    func awaited(in ledger: Ledger) throws -> String?
}

struct FollowOption: ParsableArguments {
    @Flag(help: "Keep printing what arrives, decoded, until Ctrl-C. With --since, begin with what has arrived since then.")
    var follow = false
}

extension LiveList {
    var askedNodes: [NodeArgument?] { [selection.node, selection.gateway] }
    var askedPacket: UInt32? { selection.packet }

    func awaited(in ledger: Ledger) throws -> String? { nil }

    /// Prints events as they come, until a signal or the limit ends it.
    func follow(_ options: ListOptions) async throws {
        try options.checkFollowing()
        // Names are looked up with the views up to date; what follows only reads, so that others can write meanwhile.
        var (found, channels) = (EventSelection?.none, [String]())
        try await options.ledger.reading { ledger in
            found = try selection.selection(in: ledger, isLive: true)
            channels = try ledger.channelsAwaited(named: selection.channel)
            _ = try ListRequest(ledger: ledger, options: options).chosen(liveColumns())
        }
        let ledger = try await Ledger.open(at: options.ledger.path, options: CustomViews.options(access: .readOnly))
        try await options.ledger.using(ledger) { [found, channels] ledger in
            let chosen = try ListRequest(ledger: ledger, options: options).chosen(liveColumns())
            let printer = LivePrinter(
                events: try LiveEvents(ledger, found, of: channels, since: options.times.since?.time), list: try live(ledger),
                sampleList: options.times.since == nil ? nil : try live(ledger),
                tests: chosen.tests,
                writer: try options.output.writer(chosen.shown, keepsOrder: options.columns != nil, isLive: true),
                left: options.page.limit ?? .max)
            if let awaited = try awaited(in: ledger) { StandardOutput.error("meshledger: \(DisplayWidth.safe(awaited))") }
            let work = Isolated(printer)
            ReaderWatch.begin(insteadOf: options.output.output)
            _ = try await StopSignals.cancelling { try await work.value.run() }
        }
    }
}

extension ListOptions {
    /// Refuses what needs all rows at once.
    fileprivate func checkFollowing() throws {
        let refused: [(String, Bool)] = [
            ("--sort", sort != nil), ("--reverse", reverse), ("--offset", page.offset > 0), ("--as-of", past.asOf != nil),
            ("--until", times.until != nil), ("--count-by, --bucket and --mean", groups.isGiven),
        ]
        if let (name, _) = refused.first(where: \.1) {
            throw CommandError(.usage, "--follow prints events as they arrive: leave out \(name)")
        }
    }
}

/// Passes rows on as they come.
private final class LivePrinter<Row> {
    /// How many events before the first one are read for what they report: widths, and which packets are known.
    private static var mostEarlier: UInt64 { 20_000 }
    private static var samples: Int { 100 }

    private let events: LiveEvents
    private let list: (EventRow, Bool) -> Row?
    /// What earlier events are read with; nil for `list`, which then knows their packets.
    private let sampleList: ((EventRow, Bool) -> Row?)?
    private let tests: RowTests<Row>
    private let writer: RowWriter<Row>
    private var left: Int

    init(
        events: LiveEvents, list: @escaping (EventRow, Bool) -> Row?, sampleList: ((EventRow, Bool) -> Row?)?,
        tests: RowTests<Row>, writer: RowWriter<Row>, left: Int
    ) {
        self.sampleList = sampleList
        (self.events, self.list, self.tests, self.writer, self.left) = (events, list, tests, writer, left)
    }

    func run() async throws {
        let start = events.head
        var sample: [Row] = []
        try events.forEachEarlier(through: start, most: Self.mostEarlier) { row in
            guard let row = (sampleList ?? list)(row, false), tests.hold(row) else { return }
            sample.append(row)
            if sample.count >= Self.samples * 2 { sample.removeFirst(Self.samples) }
        }
        writer.begin(like: sample.suffix(Self.samples))
        try events.forEachSince(through: start) { print($0) }
        writer.flush()
        if left > 0 {
            for await range in events.news(after: start) { guard try print(range) else { break } }
        }
        writer.finish(emptyNote: nil)
    }

    private func print(_ range: ClosedRange<EventSequence>) throws -> Bool {
        try events.forEach(in: range) { print($0) }
        try tests.check()
        writer.flush()
        return left > 0
    }

    private func print(_ row: EventRow) {
        guard left > 0, let row = list(row, true), tests.hold(row) else { return }
        left -= 1
        writer.write(row)
    }
}

/// Synchronization: only the one task that prints uses the value, while its caller waits for that task.
private struct Isolated<Value>: @unchecked Sendable {
    let value: Value

    init(_ value: Value) { self.value = value }
}
