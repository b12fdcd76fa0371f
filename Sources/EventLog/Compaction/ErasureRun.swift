internal import LMDB
internal import Synchronization

/// Carries out an erasure: first its event, after which the erasure is certain to be completed, then the records, then the file.
struct ErasureRun: Sendable {
    let log: EventLog
    private let maintenance: Maintenance

    init(_ log: EventLog, _ maintenance: Maintenance) {
        self.log = log
        self.maintenance = maintenance
    }

    /// - Parameter baselines: those without the erased rows, which are in force from the same transaction on; then an event records each request, even if
    ///   the log has none of its events.
    func erase(
        _ requests: [(sequences: SequenceSet, reason: String, request: String)], baselines: [Retention.Baseline]? = nil
    ) throws(EventLogError) -> ErasureReport {
        var works: [Erasure] = []
        var count: UInt64 = 0
        var done = SequenceSet()
        for request in requests {
            let fresh = try fresh(request.sequences.subtracting(done))
            done = SequenceSet(done.ranges + fresh.ranges)
            count += fresh.count
            var parts = stride(from: 0, to: fresh.ranges.count, by: Erasure.largestCount).map {
                SequenceSet(fresh.ranges[$0..<min($0 + Erasure.largestCount, fresh.ranges.count)])
            }
            if parts.isEmpty, baselines != nil { parts = [SequenceSet()] }
            for part in parts {
                works.append(
                    Erasure(
                        ranges: part.sequences, reason: request.reason, request: request.request,
                        root: try log.root(size: EventSequence(part.last)), log: log.identifier))
            }
        }
        if works.isEmpty {
            if try log.pendingErasure() != nil { _ = try finish() }
            return ErasureReport(events: [], erased: 0)
        }
        log.sealer?.pause()
        defer { log.sealer?.goOn() }
        let first = try begin(works, baselines)
        _ = try finish()
        return ErasureReport(events: (0..<UInt64(works.count)).map { EventSequence(first + $0) }, erased: count)
    }

    /// Erases all pending payloads from the records, and rewrites the log's file.
    func finish() throws(EventLogError) -> LogCompaction {
        log.sealer?.pause()
        defer { log.sealer?.goOn() }
        try eraseRecords()
        return try GenerationWriter(log, maintenance).write()
    }

    /// Those that are neither erased nor dropped yet.
    func fresh(_ sequences: SequenceSet) throws(EventLogError) -> SequenceSet {
        var fresh = SequenceSet()
        let kept = log.first.rawValue
        for range in sequences.ranges {
            var first = max(range.lowerBound, kept)
            while first <= range.upperBound {
                let last = min(range.upperBound, first + 4095)
                try add(first...last, to: &fresh)
                first = last + 1
            }
        }
        return fresh
    }

    private func add(_ range: ClosedRange<UInt64>, to fresh: inout SequenceSet) throws(EventLogError) {
        let reader = try log.beginRead()
        var cursor = try reader.cursor()
        var isThere = try cursor.seek(EventSequence(range.lowerBound))
        for sequence in range {
            guard isThere, let header = cursor.header, cursor.isIntact else { throw log.damage(EventSequence(sequence)) }
            guard header.source != .log else {
                throw EventLogError(.notErasable, path: log.path, detail: "event \(sequence) was written by the log itself")
            }
            if !header.isErased { fresh.append(sequence) }
            isThere = try cursor.next()
        }
    }

    /// Appends the events, and erases in the same step as much as one transaction takes.
    private func begin(_ works: [Erasure], _ baselines: [Retention.Baseline]? = nil) throws(EventLogError) -> UInt64 {
        let signer = try log.signer()
        var events: [NewEvent] = []
        for work in works {
            events.append(NewEvent(try ErasureSignature.sign(work.payload, by: signer), encoding: .erasure, source: .log))
        }
        let all = SequenceSet(works.flatMap { SequenceSet($0.ranges).ranges })
        let eraser = try storing { () throws(StorageError) in try RecordEraser(all, log.options.summariser) }
        var intents: [any PreparedWork] = [ErasureIntent(count: events.count), eraser]
        if let baselines {
            intents.append(NamedBaselines(event: nil))
            events.append(try log.event(naming: baselines))
        }
        return try store(events, intents)
    }

    /// Erases the records of all pending erasures, in bounded transactions.
    func eraseRecords() throws(EventLogError) {
        let pending = try pending()
        let eraser = try storing { () throws(StorageError) in try RecordEraser(pending, log.options.summariser) }
        while eraser.next != nil {
            guard !maintenance.isEnded else { throw EventLogError(.closed, path: log.path) }
            _ = try store([], [eraser])
        }
    }

    /// The sequences of the pending erasures.
    private func pending() throws(EventLogError) -> SequenceSet {
        let reader = try log.beginRead()
        let first = try storing { () throws(StorageError) in try reader.store.firstPendingErasure(reader.transaction) }
        guard let first else { return SequenceSet() }
        let erasures = try log.erasures(reader, from: first)
        let named = erasures.flatMap { SequenceSet($0.ranges).ranges }
        return SequenceSet(named + (try log.impliedErasures().ranges)).from(log.first.rawValue)
    }

    /// Stores in one transaction while the writer is stopped.
    func store(_ events: [NewEvent], _ works: [any PreparedWork]) throws(EventLogError) -> UInt64 {
        guard let driver = log.driver else { throw EventLogError(.readOnly, path: log.path) }
        let (clock, first) = (log.options.clock, FirstSequence())
        try driver.withWriterStopped { writer throws(EventLogError) in
            first.set(try storing { () throws(StorageError) in try writer.storeOwn(events, at: clock(), with: works) })
        }
        return first.value
    }
}

/// Marks the erasures whose events are appended with it as pending.
private struct ErasureIntent: PreparedWork {
    let count: Int

    func move(into write: inout WriteTransaction, _ store: LogStore) throws(StorageError) {
        let all = try store.erasures(write)
        guard try store.firstPendingErasure(write) == nil, all.count >= count else { return }
        try write.put(Table<String, UInt64>(raw: store.meta), LogStore.erasingKey, all[all.count - count])
    }

    func ended(_ failure: StorageError?) {}
}

/// Passes a sequence on from the writer.
private final class FirstSequence: Sendable {
    private let box = Mutex<UInt64>(0)

    var value: UInt64 { box.withLock { $0 } }

    func set(_ value: UInt64) { box.withLock { $0 = value } }
}

extension ErasureRun {
    /// Begins an erasure and leaves it in the state after an interruption.
    func beginOnly(_ ranges: [ClosedRange<EventSequence>]) throws(EventLogError) {
        let root = try log.root(size: ranges.last?.upperBound ?? .zero)
        _ = try begin([Erasure(ranges: ranges, reason: "", request: "", root: root, log: log.identifier)])
    }
}
