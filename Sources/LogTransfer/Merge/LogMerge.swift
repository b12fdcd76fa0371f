public import EventLog
internal import Foundation
internal import Glibc
internal import MeshCrypto

/// The result of a merge.
public struct MergeReport: Sendable, Equatable {
    /// The identifier of the new log, which follows from its events.
    public var ledger = ""
    public var eventCount: UInt64 = 0
    /// Events that several of the logs had.
    public var duplicates: UInt64 = 0
    /// The logs to which the events were first appended.
    public var ledgers: [String] = []
    /// Events that were erased in one of the logs.
    public var erased: UInt64 = 0
    public var root: [UInt8] = []
}

/// Merges logs into a new one. Memory does not grow with them: events are sorted by origin and arrival, in files.
struct LogMerge {
    private static let chunk = 4096

    private let inputs: [MergeInput]
    private let scratch: String
    private let progress: (RecordingProgress) -> Bool
    private var hasher = MerkleHasher()
    private var report = MergeReport()
    private var done: UInt64 = 0
    private let total: UInt64

    init(_ logs: [EventLog], scratch: String, progress: @escaping (RecordingProgress) -> Bool) throws(EventLogError) {
        var inputs: [MergeInput] = []
        for log in logs { inputs.append(try MergeInput(log, number: inputs.count)) }
        self.inputs = inputs
        self.scratch = scratch
        self.progress = progress
        total = inputs.reduce(0) { $0 + 2 * $1.head }
    }

    /// All events in the canonical order, each once, and the identifier that follows from them.
    mutating func plan() throws(EventLogError) -> (entries: SortedRuns<MergeEntry>, identifier: LedgerID) {
        let byOrigin = SortedRuns(folder: scratch, by: MergeEntry.originOrder)
        for input in inputs {
            try input.forEach { (entry) throws(EventLogError) in
                try byOrigin.add(entry)
            } progress: { (count) throws(EventLogError) in
                try reportProgress(count)
            }
        }
        try byOrigin.sort()
        let ordered = SortedRuns(folder: scratch, by: MergeEntry.canonicalOrder)
        var identity = SHA256Context()
        var chosen: MergeEntry?  // the copy that was used last
        var latest = Int64.min
        var copies: [MergeEntry] = []
        while let entry = try byOrigin.next() {
            if let kept = chosen, kept.isSameEvent(as: entry) {
                report.duplicates += 1
                copies += [kept, entry]
                if copies.count >= Self.chunk { try compare(&copies) }
                continue
            }
            if chosen?.isOfSameLedger(as: entry) != true {
                latest = .min
                report.ledgers.append(entry.ledger.text)
            }
            latest = max(latest, entry.arrival)
            if entry.isErased { report.erased += 1 }
            report.eventCount += 1
            identity.update((entry.ledger.bytes + SequenceKey.bytes(entry.sequence)).span.rawBytes)
            chosen = entry
            var placed = entry
            placed.arrival = latest
            try ordered.add(placed)
        }
        try compare(&copies)
        try ordered.sort()
        let digest = SHA256.hash(Array("meshledger merge".utf8) + identity.finish().bytes)
        guard let identifier = LedgerID(digest.prefix(16)) else { throw EventLogError(.storage, path: scratch) }
        report.ledger = identifier.text
        return (ordered, identifier)
    }

    private mutating func reportProgress(_ count: UInt64) throws(EventLogError) {
        done += count
        guard progress(RecordingProgress(done: min(done, total), total: total)) else {
            throw EventLogError(.closed, path: scratch, detail: "the merge was stopped")
        }
    }

    /// Checks that pairs of copies agree.
    private mutating func compare(_ copies: inout [MergeEntry]) throws(EventLogError) {
        let events = try read(copies)
        for pair in stride(from: 0, to: copies.count, by: 2) {
            let (left, right) = (events[pair], events[pair + 1])
            guard left.source == right.source, left.commonBytes(&hasher) == right.commonBytes(&hasher) else {
                let (one, other) = (inputs[Int(copies[pair].input)].log.path, inputs[Int(copies[pair + 1].input)].log.path)
                throw EventLogError(
                    .forked, path: other,
                    detail: "event \(copies[pair].sequence) of the ledger \(copies[pair].ledger.text) is not that of \(one)")
            }
        }
        copies.removeAll(keepingCapacity: true)
    }

    private func read(_ entries: [MergeEntry]) throws(EventLogError) -> [CopiedEvent] {
        var events = [CopiedEvent](repeating: CopiedEvent(), count: entries.count)
        for input in inputs { try input.read(entries, into: &events) }
        return events
    }

    /// Fills the new log.
    mutating func write(_ entries: SortedRuns<MergeEntry>, to log: EventLog) async throws(EventLogError) -> MergeReport {
        var appender = CopyAppender(log)
        var latest = Int64.min
        var chunk: [MergeEntry] = []
        var isLast = false
        while !isLast {
            if let entry = try entries.next() { chunk.append(entry) } else { isLast = true }
            guard chunk.count == Self.chunk || isLast else { continue }
            for (entry, event) in zip(chunk, try read(chunk)) {
                latest = entry.arrival
                let arrival = Timestamp(microseconds: event.header.arrival)
                guard let origin = event.source else { throw log.damage(EventSequence(entry.place)) }
                let source = try await appender.source(origin, first: arrival)
                appender.add(
                    event.record.span.rawBytes, salt: event.salt, origin: (entry.ledger, entry.sequence), source: source)
                if appender.isFull { try await appender.flush() }
            }
            try reportProgress(UInt64(chunk.count))
            chunk.removeAll(keepingCapacity: true)
        }
        try await appender.flush()
        try await record(appender.erased, in: log, at: latest, &appender)
        report.root = try log.root(size: log.head)
        return report
    }

    /// Without an event that records the erasure, an erased record would count as a forgery.
    private func record(_ erased: SequenceSet, in log: EventLog, at time: Int64, _ appender: inout CopyAppender)
        async throws(EventLogError)
    {
        let ranges = erased.sequences
        let own = try log.ledgerID
        for start in stride(from: 0, to: ranges.count, by: Erasure.largestCount) {
            let some = Array(ranges[start..<min(start + Erasure.largestCount, ranges.count)])
            guard let last = some.last?.upperBound else { return }
            let erasure = Erasure(
                ranges: some, reason: "erased before the ledgers were merged", request: MergedErasure.request,
                root: try log.root(size: last), log: log.identifier)
            let event = NewEvent(erasure.payload, encoding: .erasure, source: .log)
            let salt = SHA256.hash(own.bytes + SequenceKey.bytes(last.rawValue)).prefix(TileSalts.saltSize)
            appender.add(event, at: Timestamp(microseconds: time), salt: salt, origin: (own, log.head.rawValue + 1))
            try await appender.flush()
        }
    }
}

extension EventLog {
    /// Merges logs from several places into a new one: every event once with its origin, in an order that does not depend on that of the
    /// logs.
    ///
    /// The same events give the same new log, tree, salts and identifier, however they were merged before: (A + B) + B is A + B. Sources of different
    /// ledgers stay distinct. An event that was erased in one of the logs is erased in the new one. It is built as `NEW.merging` and renamed when complete.
    ///
    /// - Parameters:
    ///   - logs: open logs, whose events up to their present heads are used.
    ///   - new: a folder that does not exist yet, or is empty.
    ///   - progress: returning false ends it with `.closed`.
    /// - Throws: `.forked` if two logs differ in the same event; `.exists`, `.diskFull`, …
    public static func merge(
        _ logs: [EventLog], into new: String, options: EventLogOptions = EventLogOptions(),
        progress: @escaping (RecordingProgress) -> Bool = { _ in true }
    ) async throws(EventLogError) -> MergeReport {
        try await make(at: new, suffix: "merging") { (unfinished) throws(EventLogError) in
            let scratch = URL(fileURLWithPath: unfinished).deletingLastPathComponent().path
            var merge = try LogMerge(logs, scratch: scratch, progress: progress)
            let (entries, identifier) = try merge.plan()
            var options = options
            options.identifier = identifier.bytes
            let log = try create(at: unfinished, options: options)
            do throws(EventLogError) {
                let report = try await merge.write(entries, to: log)
                await log.close()
                return report
            } catch {
                await log.close()
                throw error
            }
        }
    }
}
