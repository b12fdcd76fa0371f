import EventLog
import Foundation
import LMDB
import MeshLedger
import Projections
import Synchronization
import ViewQuery

/// Kills a process that rebuilds views, or makes rows of older ones, at every batch in turn, while a reader asks for the rows all the time.
///
/// `work=rebuild` and `work=step` are of one view; `work=all` changes the caps and the keys, so that all views are built at once, each as far as it is
/// when another's batch ends.
struct RebuildKills {
    private let events: Int
    private let work: String

    init(_ options: Options) throws {
        events = try options.number("events", 16_000)
        work = options.text("work", "rebuild")
    }

    func run() async throws {
        let scratch = try ScratchFolder(onDisk: false)
        let path = scratch.path + "/mesh.ledger"
        let ledger = try await Ledger.create(at: path, options: RebuildChild.options([StepCounts.Before.self]))
        let source = try await ledger.log.source(named: "before")
        for first in stride(from: 0, to: UInt32(events), by: 4_000) {
            _ = try await ledger.log.append(
                (first..<first + 4_000).map {
                    NewEvent(KillWriter.envelope(task: $0 % 8, number: $0), encoding: .serviceEnvelope, source: source)
                })
        }
        try await ledger.catchUp()
        try await ledger.close()
        let views = ["steps"] + (work == "all" ? Ledger.viewNames : [])
        let old = try await digests(path, views)
        let seen = Mutex(old.mapValues { Set([$0]) })
        let isDone = Mutex(false)
        let reader = Task {
            var reads = 0
            while !isDone.withLock({ $0 }) {
                for (view, digest) in try await digests(path, views) {
                    _ = seen.withLock { $0[view, default: []].insert(digest) }
                }
                reads += 1
            }
            return reads
        }
        var starts: [Int] = []
        for batch in 1... {
            let lines = Mutex<[String]>([])
            let (end, errors) = try Child.run(
                Child.program, ["rebuild-child", "path=\(path)", "work=\(work)", "batch=\(batch)"], patience: 600
            ) { line in lines.withLock { $0.append(line) } }
            let said = lines.withLock { $0 }
            if let start = said.first.flatMap({ $0.hasPrefix("from ") ? Int($0.dropFirst(5)) : nil }) { starts.append(start) }
            if case .exited(0) = end { break }
            guard case .signalled(SIGKILL) = end else { throw Failure("batch \(batch): \(end), \(errors)") }
        }
        isDone.withLock { $0 = true }
        let reads = try await reader.value
        let new = try await digests(path, views)
        let strange = seen.withLock { $0 }.filter { view, digests in
            !digests.subtracting([old[view], new[view]].compactMap { $0 }).isEmpty
        }
        guard strange.isEmpty, old["steps"] != new["steps"] else {
            throw Failure("a reader saw rows of \(strange.keys.sorted()) that are neither the old nor the new ones")
        }
        guard starts == starts.sorted(), (starts.last ?? 0) > (starts.first ?? 0) else {
            throw Failure("it did not go on where it was: it began at \(starts)")
        }
        // All of it at once gives the same.
        for view in views { try FileManager.default.removeItem(atPath: path + "/views/" + view) }
        let lines = Mutex<[String]>([])
        _ = try Child.run(
            Child.program, ["rebuild-child", "path=\(path)", "work=\(work)", "batch=1000000"], patience: 600
        ) { line in
            lines.withLock { $0.append(line) }
        }
        guard lines.withLock({ $0.last }) == "done" else { throw Failure("the whole run did not end") }
        let whole = try await digests(path, views)
        guard whole == new else { throw Failure("what was killed \(starts.count) times ends otherwise than what was not") }
        say("killed \(starts.count) times, \(reads) reads")
    }

    private func digests(_ path: String, _ views: [String]) async throws -> [String: String] {
        var digests: [String: String] = [:]
        for view in views { digests[view] = try await digest(path, view) }
        return digests
    }

    /// Of what another process serves now, whichever it is.
    private func digest(_ path: String, _ view: String) async throws -> String {
        for attempt in 1... {
            do {
                return try rows(path, view)
            } catch {
                // Between looking up the name and opening the file it may have been swapped.
                guard attempt < 100 else { throw error }
                try await Task.sleep(for: .milliseconds(20))
            }
        }
        return ""
    }

    private func rows(_ path: String, _ view: String) throws -> String {
        let folder = ViewFolder(path: "\(path)/views/\(view)")
        guard let name = folder.current() else { throw Failure("no view is served") }
        let store = try ViewStore.open(
            at: folder.store(name), recipe: Recipe(view: view, version: 0, policy: "", keyring: ""), tables: [view],
            access: .readOnly)
        defer { store.close() }
        return try store.digest(of: [view])
    }
}
