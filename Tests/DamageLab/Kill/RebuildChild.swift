import EventLog
import Foundation
import Glibc
import MeshLedger
import Meshtastic
import Projections
import ViewQuery

/// Opens a ledger whose views are to be rebuilt, or to be taken over by a custom step, and kills itself at a given batch.
///
/// `work=rebuild` folds all events again, each batch a commit; `work=step` makes the rows of older ones. Both are of a custom view; with
/// `work=all` the caps and keys of all views are others, too. It prints where it began and, at the end, `done`.
struct RebuildChild {
    private let path: String
    private let batch: Int
    private let work: String

    init(_ options: Options) throws {
        path = try options.text("path")
        batch = try options.number("batch", 1)
        work = try options.text("work")
    }

    func run() async throws {
        StepCounts.killAt(batch * StepCounts.batch + (work == "step" ? 0 : 1))
        let view: any LedgerView.Type = work == "step" ? StepCounts.After.self : StepCounts.Again.self
        var options = Self.options([view])
        if work == "all" { options.caps = ViewCaps(nodes: 7, positions: 100, messages: 1_000) }
        let ledger = try await Ledger.open(at: path, options: options)
        if work == "all" { try await ledger.keys.change(.addChannels(HistoryPlan.everyKey.channels)) }
        try await ledger.catchUp()
        try await ledger.close()
        say("done")
    }

    static func options(_ views: [any LedgerView.Type]) -> LedgerOptions {
        var options = LedgerOptions(log: EventLogOptions(isDurable: false))
        options.flushPolicy.pendingBytesLimit = 1
        options.views = views
        return options
    }
}

/// A view of one's own with many rows, and its next version, whose rows are made of the old ones.
enum StepCounts {
    /// In rows: what a step moves in a transaction.
    static let batch = 4_096
    nonisolated(unsafe) private static var made = 0
    nonisolated(unsafe) private static var last = Int.max

    /// Lets the process die when so many rows were made.
    static func killAt(_ count: Int) { unsafe last = count }

    /// Counts a row that is made of an event. One thread makes the rows.
    private static func make(_ event: UInt64) {
        if unsafe made == 0 { say("from \(event)") }
        unsafe made += 1
        if unsafe made >= last { kill(getpid(), SIGKILL) }
    }

    struct Old: StoredRow {
        var event: UInt64 = 0
        var port: UInt32 = 0
        static let view = "steps"
        static let columns: [RowColumn<Old>] = [RowColumn(key: "event", \.event), RowColumn(1, "port", \.port)]
    }

    struct New: StoredRow {
        var event: UInt64 = 0
        var name = ""
        static let view = "steps"
        static let columns: [RowColumn<New>] = [RowColumn(key: "event", \.event), RowColumn(2, "name", \.name)]
    }

    struct Before: LedgerView {
        static let versions = [SchemaVersion(1)]
        static let cap = RowCap<Old>.total(1_000_000, by: \.event)
        func fold(_ event: MeshEvent, into rows: inout RowEditor<Old>) {
            rows.insert(Old(event: event.sequence, port: event.packet.port))
        }
    }

    struct Again: LedgerView {
        static let versions = [SchemaVersion(1), SchemaVersion(2)]
        static let cap = RowCap<Old>.total(1_000_000, by: \.event)
        func fold(_ event: MeshEvent, into rows: inout RowEditor<Old>) {
            make(event.sequence)
            rows.insert(Old(event: event.sequence, port: event.packet.port + 1_000))
        }
    }

    struct After: LedgerView {
        static let versions = [
            SchemaVersion(1),
            SchemaVersion(
                2,
                .custom(Old.self, to: New.self) { old in
                    make(old.event)
                    return New(event: old.event, name: "port \(old.port)")
                }),
        ]
        static let cap = RowCap<New>.total(1_000_000, by: \.event)
        func fold(_ event: MeshEvent, into rows: inout RowEditor<New>) {
            rows.insert(New(event: event.sequence, name: "port \(event.packet.port)"))
        }
    }
}
