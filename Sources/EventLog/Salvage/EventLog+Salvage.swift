internal import Foundation
internal import Glibc
internal import Synchronization

extension EventLog {
    /// Looks through the log's file for every record that still checks, without the store and without changing anything: no damage can end
    /// the process.
    ///
    /// - Parameter damaged: a ledger's folder, or the data file of its log.
    public static func survey(
        _ damaged: String, progress: (SalvageProgress) -> Void = { _ in }
    ) throws(EventLogError) -> SalvageReport {
        var salvage = try LogSalvage(try dataFile(of: damaged), scratch: NSTemporaryDirectory(), progress: progress)
        return try salvage.gather(progress: progress, save: { _, _ in }, miss: { _ in })
    }

    /// Writes every record of a damaged log that still checks into a new log, byte for byte.
    ///
    /// Each event keeps its sequence: in the place of one that is lost stands a gap event that says so. The new log has an identity of its
    /// own; checkpoints and proofs of the damaged log hold for the damaged log only. It is made beside, as `NEW.salvaging`, and gets its name
    /// when it is complete.
    ///
    /// - Parameters:
    ///   - damaged: a ledger's folder, or the data file of its log. It is only read.
    ///   - new: a folder that does not exist yet, or is empty.
    public static func salvage(
        _ damaged: String, to new: String, progress: (SalvageProgress) -> Void = { _ in }
    ) async throws(EventLogError) -> SalvageReport {
        let file = try dataFile(of: damaged)
        let parent = URL(fileURLWithPath: new).deletingLastPathComponent().path
        let names = try? FileManager.default.contentsOfDirectory(atPath: new)  // nil where there is none
        guard names?.isEmpty ?? !FileManager.default.fileExists(atPath: new) else { throw EventLogError(.exists, path: new) }
        let unfinished = URL(fileURLWithPath: new).path + ".salvaging"
        var salvage = try LogSalvage(file, scratch: parent, progress: progress)
        let clock = SettableClock()
        var options = EventLogOptions(clock: { clock.now })
        options.beginning = salvage.beginning
        let log = try create(at: unfinished, options: options)
        do throws(EventLogError) {
            var writer = SalvageWriter(log, clock)
            let report = try salvage.gather(progress: progress) { sequence, record throws(EventLogError) in
                try writer.save(record)
            } miss: { range throws(EventLogError) in
                try writer.note(lost: range)
            }
            try writer.finish()
            if let beginning = salvage.beginning { try writer.tell(of: beginning) }
            try await writer.keep(salvage.sources, named: report.namelessSources, salvage.cursors)
            try await log.completeErasures()
            await log.close()
            guard unsafe rename(unfinished, new) == 0 else { throw SmallFile.failure(errno, new) }
            try SmallFile.syncFolder(parent)
            return report
        } catch {
            await log.close()
            throw error
        }
    }

    /// The file to read: that of the current generation, or of the newest where `current` is lost.
    static func dataFile(of damaged: String) throws(EventLogError) -> String {
        var isFolder = ObjCBool(false)
        guard unsafe FileManager.default.fileExists(atPath: damaged, isDirectory: &isFolder) else {
            throw EventLogError(.missing, path: damaged)
        }
        guard isFolder.boolValue else { return damaged }
        let folder = LogFolder(path: damaged)
        do throws(EventLogError) {
            let current = folder.environmentPath(generation: try folder.readCurrent()) + "/data.mdb"
            if FileManager.default.fileExists(atPath: current) { return current }
        } catch {
            guard error.code == .corrupt || error.code == .notALog || error.code == .missing else { throw error }
        }
        let names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: folder.logPath)
        } catch {
            throw EventLogError(.notALog, path: damaged)
        }
        let generations = names.compactMap { UInt32($0) }.sorted(by: >)
        for generation in generations {
            let path = folder.environmentPath(generation: generation) + "/data.mdb"
            if FileManager.default.fileExists(atPath: path) { return path }
        }
        throw EventLogError(.notALog, path: damaged, detail: "its log has no data file")
    }
}

/// The system's clock, or a time that was set: sources keep the time when the damaged log first heard of them.
final class SettableClock: Sendable {
    private let chosen = Mutex<Timestamp?>(nil)

    var now: Timestamp { chosen.withLock { $0 } ?? Timestamp.now }

    func show(_ time: Timestamp?) { chosen.withLock { $0 = time } }
}

/// Fills a new log with what was salvaged.
struct SalvageWriter {
    /// Bytes, and events, in one append.
    private static let batchBytes = 4 << 20
    private static let batchCount = 16_384

    private let log: EventLog
    private let clock: SettableClock
    private var batch = EventBatch()
    /// What the damaged log said last of dropped events.
    private var retention: Retention?

    init(_ log: EventLog, _ clock: SettableClock) {
        self.log = log
        self.clock = clock
        batch.keepsArrivals = true
    }

    mutating func save(_ record: RawSpan) throws(EventLogError) {
        if Record.encoding(record) == .retention, RecordHeader(record).source == 0 {
            retention = Retention(payload: record.extracting(droppingFirst: RecordHeader.size)) ?? retention
        }
        batch.append(record: record)
        try flushIfLarge()
    }

    /// Puts a gap event in the place of each event that is lost, so that those behind keep their sequences.
    mutating func note(lost range: ClosedRange<UInt64>) throws(EventLogError) {
        let now = clock.now
        for sequence in range {
            let gap = Gap(count: 1, first: now, last: now, reason: "event \(sequence) was damaged when this ledger was salvaged")
            batch.append(own: gap.event(of: .log), arrival: now)
            try flushIfLarge()
        }
    }

    private mutating func flushIfLarge() throws(EventLogError) {
        if batch.byteCount >= Self.batchBytes || batch.count >= Self.batchCount { try finish() }
    }

    mutating func finish() throws(EventLogError) {
        guard !batch.isEmpty else { return }
        try log.appendBlocking(batch)
        batch.removeAll()
    }

    /// The new log says itself what is not in it: the damaged one's word is signed by another key.
    func tell(of beginning: LogBeginning) throws(EventLogError) {
        let known = retention.flatMap { $0.first.rawValue == beginning.cut + 1 ? $0 : nil }
        try log.tell(
            Retention(
                first: EventSequence(beginning.cut + 1), count: 0, firstArrival: known?.firstArrival ?? clock.now,
                lastArrival: known?.lastArrival ?? clock.now, baselines: known?.baselines ?? []), checksum: beginning.checksum)
    }

    /// Gives the sources their numbers and names again.
    func keep(
        _ sources: [UInt32: EventSource], named nameless: [SourceID], _ cursors: [SourceCursor]
    ) async throws(EventLogError) {
        let highest = max(sources.keys.max() ?? 0, nameless.last?.rawValue ?? 0)
        // A number that no file can have given is a damaged one.
        guard highest > 0, highest < 1 << 20 else { return try await keep(cursors) }
        for number in 1...highest {
            let source = sources[number]
            clock.show(source?.created)
            var name = source?.name ?? "source \(number), whose name was lost"
            if log.names[name] != nil { name += " (\(number))" }
            _ = try await log.source(named: name)
        }
        clock.show(nil)
        try await keep(cursors)
    }

    private func keep(_ cursors: [SourceCursor]) async throws(EventLogError) {
        for cursor in cursors where (1...500).contains(cursor.key.utf8.count) { try await log.append([], cursor: cursor) }
    }
}
