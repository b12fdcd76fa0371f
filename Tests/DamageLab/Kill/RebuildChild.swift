import EventLog
import Foundation
import Glibc
import MeshViews
import Meshtastic
import Projections
import ViewQuery

/// Opens a ledger whose views are to be built anew, or to be taken over by a custom step, and kills itself at a given batch.
///
/// `work=rebuild` builds the messages with another cap, each batch a commit; `work=step` makes the rows of a view of one's own. It prints where it began
/// and, at the end, `done`.
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
        var options = Self.options(work == "step" ? [StepCounts.After.self] : [StepCounts.Before.self])
        if work == "rebuild" { options.caps.messages = 40 }
        StepCounts.killAt(work == "step" ? batch * StepCounts.batch : .max)
        let ledger = try await Ledger.open(at: path, options: options)
        let seen = Batches(ViewFolder(path: path + "/views/messages"), last: work == "rebuild" ? batch : .max)
        try await ledger.catchUp { progress in seen.count(progress) }
        try await ledger.close()
        say("done")
    }

    static func options(_ views: [any LedgerView.Type]) -> LedgerOptions {
        var options = LedgerOptions(log: EventLogOptions(isDurable: false))
        options.flushPolicy.pendingBytesLimit = 1
        options.views = views
        return options
    }

    /// Kills the process at the given batch.
    private final class Batches: @unchecked Sendable {
        // Progress comes from one task.
        private var seen: UInt64 = 0
        private var number = 0
        private let last: Int
        private let folder: ViewFolder
        private var written: Int?

        init(_ folder: ViewFolder, last: Int) {
            self.folder = folder
            self.last = last
        }

        func count(_ progress: FoldProgress) {
            guard progress.position != seen else { return }
            if seen == 0 {
                say("from \(progress.start)")
                written = lastWrite()
            }
            seen = progress.position
            number += 1
            guard number >= last else { return }
            // Of the second batch or a later one there is a commit to come, if there was none yet.
            while number > 1, lastWrite() == written { usleep(1_000) }
            kill(getpid(), SIGKILL)
        }

        /// When the file of the new view was written last, in nanoseconds.
        private func lastWrite() -> Int? {
            let current = folder.current()
            guard let name = folder.recipes().first(where: { $0 != current }) else { return nil }
            var status = stat()
            guard unsafe stat(folder.store(name) + "/data.mdb", &status) == 0 else { return nil }
            return status.st_mtim.tv_sec * 1_000_000_000 + status.st_mtim.tv_nsec
        }
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

    struct After: LedgerView {
        static let versions = [
            SchemaVersion(1),
            SchemaVersion(
                2,
                .custom(Old.self, to: New.self) { old in
                    // One thread makes the rows.
                    if unsafe made == 0 { say("from \(old.event)") }
                    unsafe made += 1
                    if unsafe made >= last { kill(getpid(), SIGKILL) }
                    return New(event: old.event, name: "port \(old.port)")
                }),
        ]
        static let cap = RowCap<New>.total(1_000_000, by: \.event)
        func fold(_ event: MeshEvent, into rows: inout RowEditor<New>) {
            rows.insert(New(event: event.sequence, name: "port \(event.packet.port)"))
        }
    }
}
