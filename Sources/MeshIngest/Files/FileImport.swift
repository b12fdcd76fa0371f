import EventLog
import Foundation

/// Imports a file of recorded traffic, from where the last import of it ended.
///
/// ```swift
/// let report = try await FileImport("capture.base64", into: target).run { print($0.eventCount) }
/// ```
/// Events are stored in the same transaction as the mark of how far the file was read: a file that is imported twice, renamed or grown adds
/// nothing twice, and a killed import continues where it stopped. Memory does not grow with the file.
///
/// A damaged line or frame becomes an event whose text is kept as unreadable. A file of another format is refused before anything is
/// stored. `-` is standard input: it is read to its end and has no mark.
public struct FileImport: Sendable {
    let path: String
    let target: IngestTarget
    let options: ImportOptions

    public init(_ path: String, into target: IngestTarget, options: ImportOptions = ImportOptions()) {
        self.path = path
        self.target = target
        self.options = options
    }

    /// Imports the new part. When the task is cancelled, it stores what it has read and returns; the views are flushed in any case.
    ///
    /// - Parameter progress: called after appends, at most once in `progressIntervalSeconds`, and at the end
    /// - Throws: `IngestError`; what was stored before remains, with its mark
    public func run(progress: (@Sendable (ImportProgress) -> Void)? = nil) async throws(IngestError) -> ImportReport {
        let file = try InputFile(path)
        let isComplete = options.isComplete || file.size == nil
        let head = try head(of: file)
        let isWhole = file.size.map { $0 <= head.count } ?? (head.count < FormatDetection.sampleSize)
        let defaultName = options.sourceName ?? Self.sourceName(of: path)
        guard let format = try format(of: head, isWhole: isWhole) else {
            progress?(ImportProgress(bytesDone: 0, bytesTotal: file.size, eventCount: 0, eventsPerSecond: 0, secondsLeft: 0))
            return ImportReport(sourceName: defaultName)
        }
        var mark = FileMark(
            headLength: head.count, headHash: FileMark.hash(head, head.count), offset: 0, tailHash: FileMark.hash([], 0),
            recordCount: 0,
            sourceName: defaultName)
        var place: FileMarkBook.Place?
        if file.size != nil {
            let found = try await FileMarkBook(log: target.log, format: format).find(file, head: head)
            place = found
            if let old = found.mark {
                (mark.offset, mark.recordCount, mark.sourceName) = (old.offset, old.recordCount, old.sourceName)
            }
        }
        var run = ImportRun(
            file: file, target: target, place: place, mark: mark, format: format, progress: progress, options: options)
        return try await run.finish(isComplete: isComplete, first: file.size == nil ? head : [])
    }

    /// How far the file was imported, and its size; nil if nothing of it was.
    func imported() async throws(IngestError) -> (mark: FileMark, size: Int)? {
        let file = try InputFile(path)
        guard let size = file.size else { return nil }
        let head = try head(of: file)
        guard let format = try format(of: head, isWhole: size <= head.count),
            let mark = try await FileMarkBook(log: target.log, format: format).find(file, head: head).mark, mark.offset > 0
        else { return nil }
        return (mark, size)
    }

    /// Checks that a file exists and may be read, before anything of several files is stored.
    ///
    /// - Throws: `.notFound`, `.noPermission`, …
    public static func requireReadable(_ path: String) throws(IngestError) {
        try InputFile.requireReadable(path)
    }

    func head(of file: InputFile) throws(IngestError) -> [UInt8] {
        if let size = file.size { return try file.bytes(min(size, FileMark.headSize), at: 0) }
        var head: [UInt8] = []
        while head.count < FormatDetection.sampleSize,
            try file.read(FormatDetection.sampleSize - head.count, at: head.count, into: &head, isCancelled: { Task.isCancelled })
        {}
        return head
    }

    func format(of head: [UInt8], isWhole: Bool) throws(IngestError) -> ImportFormat? {
        guard let format = options.format else { return try FormatDetection.format(of: head.span, isWhole: isWhole, path: path) }
        try FormatDetection.check(head.span, is: format, isWhole: isWhole, path: path)
        return format
    }

    static func sourceName(of path: String) -> String {
        path == "-" ? "file:standard input" : "file:" + (path.split(separator: "/").last.map(String.init) ?? path)
    }
}
