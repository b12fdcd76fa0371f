import EventLog
import Synchronization

/// Reads a file from where the last import ended and splits it into batches, on a separate thread.
struct FileReading {
    static let chunkSize = 1 << 20
    static let payloadLimit = 1 << 20

    let file: InputFile
    let isComplete: Bool
    let batchLimit: Int
    let isStopped: @Sendable () -> Bool
    let output: Handoff<FileBatch>

    private var cutter: any RecordCutter
    private var mark: FileMark
    private var batch = FileBatch()
    private var batchBytes = 0
    private var skippedBefore = 0
    /// The number of the last reported record: the parts of a long one count as one.
    private var lastProblem = 0

    init(
        _ file: InputFile, _ format: ImportFormat, from mark: FileMark, isComplete: Bool, batchLimit: Int,
        isInsideLine: Bool,
        output: Handoff<FileBatch>, isStopped: @escaping @Sendable () -> Bool
    ) {
        self.file = file
        self.isComplete = isComplete
        self.batchLimit = max(1, batchLimit)
        self.isStopped = isStopped
        self.output = output
        self.mark = mark
        cutter = format.cutter(isComplete: isComplete, isInsideLine: isInsideLine)
    }

    /// Reads to the end, or until it is stopped or batches are no longer taken, and then closes the handoff.
    ///
    /// - Parameter first: bytes of a pipe that were read to detect its format
    mutating func run(first: [UInt8]) {
        do throws(IngestError) {
            try readAll(first)
        } catch {
            batch.failure = error
            _ = output.offer(batch)
        }
        output.close()
    }

    private mutating func readAll(_ first: [UInt8]) throws(IngestError) {
        var window = first
        var windowOffset = mark.offset
        var isEnd = false
        while true {
            let end = try cutAll(window, windowOffset, isEnd: isEnd)
            guard let end else { return }
            windowOffset += end
            if isEnd || isStopped() {
                if isEnd { try finish(window, end, windowOffset) }
                _ = try hand()
                return
            }
            window.removeSubrange(..<end)
            isEnd = try !file.read(Self.chunkSize, at: windowOffset + window.count, into: &window, isCancelled: isStopped)
            if isEnd, isStopped() { isEnd = false }
        }
    }

    /// Splits off complete records; returns where it ended, or nil when it should stop.
    private mutating func cutAll(_ window: [UInt8], _ windowOffset: Int, isEnd: Bool) throws(IngestError) -> Int? {
        let bytes = window.span
        var position = 0
        while true {
            switch cutter.cut(bytes, from: position, isEnd: isEnd) {
            case .incomplete: return position
            case .nothing(let end, let countsAsRecord):
                position = end
                mark.offset = windowOffset + end
                if countsAsRecord { mark.recordCount += 1 }
            case .record(let record, let end):
                position = end
                mark.offset = windowOffset + end
                add(record)
                mark.recordCount += 1
                guard try handFull() else { return nil }
            case .piece(let record, let end, let isLast):
                position = end
                mark.offset = windowOffset + end
                add(record)
                if isLast { mark.recordCount += 1 }
                guard try handFull() else { return nil }
            }
        }
    }

    private mutating func add(_ record: IngestRecord) {
        batchBytes += record.payload.count
        let number = mark.recordCount + 1
        if let problem = record.problem, number != lastProblem {
            lastProblem = number
            batch.unreadableCount += 1
            if batch.problems.count < ImportReport.problemLimit {
                batch.problems.append(.init(number: number, unit: cutter.unit, reason: problem))
            }
        }
        if let findings = record.findings { batch.radioKeys.add(findings) }
        batch.records.append(record)
    }

    /// An incomplete record at the end is kept as unreadable when the file is complete, and left alone when it may grow.
    private mutating func finish(_ window: [UInt8], _ end: Int, _ offset: Int) throws(IngestError) {
        let rest = window.count - end
        guard rest > 0 else { return }
        guard isComplete else {
            batch.leftover = .init(byteCount: rest, offset: offset)
            return
        }
        for start in stride(from: end, to: window.count, by: IngestLimit.unreadablePiece) {
            let piece = window.span.bytes(start..<min(start + IngestLimit.unreadablePiece, window.count))
            mark.offset += piece.count
            add(.unreadable(piece, "the file ends inside of this \(cutter.unit)"))
        }
        mark.recordCount += 1
    }

    private mutating func handFull() throws(IngestError) -> Bool {
        guard batch.records.count >= batchLimit || batchBytes >= Self.payloadLimit else { return true }
        return try hand()
    }

    private mutating func hand() throws(IngestError) -> Bool {
        if file.size != nil {
            mark.tailHash = try FileMark.tail(of: file, before: mark.offset)
            batch.mark = mark
        }
        batch.endOffset = mark.offset
        batch.skippedBytes = cutter.skippedBytes - skippedBefore
        skippedBefore = cutter.skippedBytes
        let ready = batch
        batch = FileBatch()
        batchBytes = 0
        return output.offer(ready) && !isStopped()
    }
}
