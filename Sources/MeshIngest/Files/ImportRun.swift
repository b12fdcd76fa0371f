import EventLog
import Foundation
import Synchronization

/// One run of an import: a thread reads and splits, this task appends.
struct ImportRun {
    private static let batchesAhead = 2
    /// A ledger with a size limit looks at its sizes more often than that.
    private static let sizeLookTime = Duration.milliseconds(300)

    let file: InputFile
    let target: IngestTarget
    /// The key of the file's mark; nil for pipes.
    private let key: String?
    /// The mark stored there now, unless another import of the file changes it.
    private var stored: SourceCursor.Stored
    let format: ImportFormat
    let progress: (@Sendable (ImportProgress) -> Void)?
    let options: ImportOptions
    private let mark: FileMark
    private var sources: SourceNames
    private var report: ImportReport
    private let started = ContinuousClock.now
    private var lastReport = ContinuousClock.now

    init(
        file: InputFile, target: IngestTarget, place: FileMarkBook.Place?, mark: FileMark, format: ImportFormat,
        progress: (@Sendable (ImportProgress) -> Void)?, options: ImportOptions
    ) {
        self.file = file
        self.target = target
        key = place?.key
        stored = SourceCursor.Stored(place?.stored)
        self.mark = mark
        self.format = format
        self.progress = progress
        self.options = options
        sources = SourceNames(log: target.log, base: mark.sourceName)
        report = ImportReport(sourceName: mark.sourceName)
        report.format = format
        report.startOffset = mark.offset
        report.endOffset = mark.offset
    }

    mutating func finish(isComplete: Bool, first: [UInt8]) async throws(IngestError) -> ImportReport {
        let handoff = Handoff<FileBatch>(limit: Self.batchesAhead)
        let stop = StopFlag()
        let before = mark.offset > 0 && format.isLines ? try file.bytes(1, at: mark.offset - 1) : []
        let reading = FileReading(
            file, format, from: mark, isComplete: isComplete, batchLimit: options.batchLimit,
            isInsideLine: before.contains { $0 != 0x0a }, output: handoff, isStopped: { stop.isSet })
        let thread = Thread {
            var reading = reading
            reading.run(first: first)
        }
        thread.name = "meshledger import"
        thread.start()
        let failure = await withTaskCancellationHandler {
            await appendAll(handoff)
        } onCancel: {
            stop.set()
        }
        if let failure { throw failure }
        report.isInterrupted = stop.isSet && report.endOffset < file.size ?? .max
        report.seconds = Self.seconds(started.duration(to: .now))
        reportProgress()
        try await Uncancelled.run { [target, path = file.path] () async throws(IngestError) in try await target.flush(path) }
        return report
    }

    private mutating func appendAll(_ handoff: Handoff<FileBatch>) async -> IngestError? {
        while let batches = await handoff.takeAll() {
            for batch in batches {
                do throws(IngestError) {
                    try await append(batch)
                    if let failure = batch.failure { throw failure }
                } catch {
                    handoff.refuse()
                    return error
                }
            }
            handoff.settle()
        }
        return nil
    }

    private mutating func append(_ batch: FileBatch) async throws(IngestError) {
        var events: [NewEvent] = []
        events.reserveCapacity(batch.records.count)
        for record in batch.records {
            let source = try await sources.id(record.origin)
            events.append(
                NewEvent(
                    record.payload, encoding: record.encoding, source: source, reception: record.reception,
                    isMasked: record.isMasked))
        }
        var cursor: SourceCursor?
        if let key, let mark = batch.mark, batch.endOffset > report.endOffset {
            cursor = SourceCursor(key: key, value: mark.bytes, expected: stored)
        }
        if !events.isEmpty || cursor != nil {
            let sequences = try await store(events, cursor)
            if let cursor { stored = .value(cursor.value) }
            if let sequences { report.sequences = (report.sequences?.lowerBound ?? sequences.lowerBound)...sequences.upperBound }
        }
        report.eventCount += events.count
        report.endOffset = batch.endOffset
        report.unreadableCount += batch.unreadableCount
        report.problems += batch.problems.prefix(ImportReport.problemLimit - report.problems.count)
        report.skippedBytes += batch.skippedBytes
        report.radioKeys.merge(batch.radioKeys)
        report.leftover = batch.leftover
        if Self.seconds(lastReport.duration(to: .now)) >= options.progressIntervalSeconds { reportProgress() }
    }

    private func store(_ events: [NewEvent], _ cursor: SourceCursor?) async throws(IngestError) -> ClosedRange<EventSequence>? {
        do throws(EventLogError) {
            return try await storeOrFlush(events, cursor)
        } catch {
            guard error.code != .cursorMoved else {
                throw IngestError(
                    .busy, subject: file.path,
                    reason:
                        "the same content is being imported by another process or source; what both have read was stored once; import it again later"
                )
            }
            throw IngestError(
                ledger: error, subject: file.path,
                reason: "the ledger did not accept the events behind byte \(report.endOffset); the next import continues there")
        }
    }

    /// Near a size limit, what the views have not stored yet counts with what it is expected to take: stored, it may take less.
    private func storeOrFlush(
        _ events: [NewEvent], _ cursor: SourceCursor?
    ) async throws(EventLogError) -> ClosedRange<EventSequence>? {
        do throws(EventLogError) {
            return try await target.log.append(events, cursor: cursor)
        } catch {
            // A failure to flush is not the one to report.
            guard error.code == .sizeLimitReached, (try? await target.flush(file.path)) != nil else { throw error }  // see above
        }
        try? await Task.sleep(for: Self.sizeLookTime)  // if cancelled, the next attempt comes sooner
        return try await target.log.append(events, cursor: cursor)
    }

    private mutating func reportProgress() {
        lastReport = .now
        guard let progress else { return }
        let seconds = Self.seconds(started.duration(to: .now))
        let bytes = report.endOffset - report.startOffset
        var left: Double?
        if let size = file.size, bytes > 0 { left = seconds / Double(bytes) * Double(max(0, size - report.endOffset)) }
        progress(
            ImportProgress(
                bytesDone: report.endOffset, bytesTotal: file.size, eventCount: report.eventCount,
                eventsPerSecond: seconds > 0 ? Double(report.eventCount) / seconds : 0, secondsLeft: left))
    }

    private static func seconds(_ duration: Duration) -> Double { duration / .seconds(1) }
}
