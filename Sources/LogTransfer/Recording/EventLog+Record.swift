public import EventLog
internal import Glibc
internal import LMDB

extension EventLog {
    /// Writes the log's events, with their salts, sources and import marks, into a file that any other log can import: an exact copy if
    /// all were recorded.
    ///
    /// The log may be written to meanwhile; later events are not in the recording. The file gets its name when it is complete and on disk.
    ///
    /// - Parameters:
    ///   - path: a plain file, which is replaced if it exists; a device or a FIFO is written to.
    ///   - progress: called after each step; returning false ends it with `.closed`.
    /// - Throws: `.tooFewEvents` if there are no such events, `.diskFull`, `.permission`, `.corrupt` at an event whose checksum
    ///   does not match, `.exists` if something that cannot be written to is at the path; `.beyondRetention` if retention drops events of it meanwhile.
    @discardableResult
    public func record(
        to path: String, _ selection: RecordingSelection = .all, progress: (RecordingProgress) -> Bool = { _ in true }
    ) throws(EventLogError) -> RecordingSummary {
        if let device = try OutputDevice(path) {
            return try record(toDescriptor: device.descriptor, path: path, selection, progress: progress)
        }
        let (file, unfinished) = try Self.createRecording(for: path)
        defer { Glibc.close(file) }
        do throws(EventLogError) {
            let summary = try record(toDescriptor: file, path: path, selection, progress: progress)
            guard fsync(file) == 0 else { throw SmallFile.failure(errno, unfinished) }
            try SmallFile.rename(unfinished, to: path)
            return summary
        } catch {
            try? OwnedFile.remove(unfinished)  // the earlier failure is the one to report
            throw error
        }
    }

    /// An unfinished recording beside the file, under a random name, since `PATH.new` may be a file of the user.
    private static func createRecording(for path: String) throws(EventLogError) -> (file: Int32, path: String) {
        let unfinished = "\(path).\(String(UInt64.random(in: 0 ... .max), radix: 16)).new"
        do throws(StorageError) {
            return (try OwnedFile.open(unfinished, O_WRONLY | O_CREAT | O_EXCL), unfinished)
        } catch {
            throw error.code == .foreign || error.number == 0 ? EventLogError(error) : SmallFile.failureToMake(error.number, path)
        }
    }

    /// Writes the recording to an open file or pipe.
    ///
    /// - Parameter path: its name in errors.
    /// - Throws: as the form that creates the file; `.readerGone` if nobody reads from the pipe any more.
    @discardableResult
    public func record(
        toDescriptor descriptor: Int32, path: String, _ selection: RecordingSelection = .all,
        progress: (RecordingProgress) -> Bool = { _ in true }
    ) throws(EventLogError) -> RecordingSummary {
        let snapshot = try RecordingSnapshot(self)
        let first = max(selection.first?.rawValue ?? 1, snapshot.cut + 1)
        let last = min(selection.last?.rawValue ?? snapshot.head, snapshot.head)
        guard first <= last || snapshot.head == snapshot.cut else {
            throw EventLogError(.tooFewEvents, path: self.path, detail: "there are no such events to record")
        }
        let range = first <= last ? first...last : 1...1
        return try record(range, isEmpty: first > last, snapshot, selection, FrameWriter(descriptor, path: path), progress)
    }

    private func record(
        _ range: ClosedRange<UInt64>, isEmpty: Bool, _ snapshot: RecordingSnapshot, _ selection: RecordingSelection,
        _ frames: FrameWriter, _ progress: (RecordingProgress) -> Bool
    ) throws(EventLogError) -> RecordingSummary {
        var writer = try RecordingWriter(self, selection, range: range, to: frames)
        let isWhole = range.lowerBound == 1 && (isEmpty ? 0 : range.upperBound) == snapshot.head && selection.isWanted == nil
        var snapshot = snapshot
        if !isWhole { snapshot.cursors = RecordingPairs() }
        var note: SignedNote?
        if isWhole, !isEmpty {
            note = try? checkpoint(size: EventSequence(snapshot.head), namesSources: true)  // the key may not be readable
        }
        let summary = try writer.write(snapshot, checkpoint: note, isEmpty: isEmpty, progress: progress)
        if range.lowerBound == 1, !isEmpty, selection.isWanted == nil {
            guard try root(size: EventSequence(range.upperBound)) == summary.root else {
                throw EventLogError(
                    .corrupt, path: path,
                    detail: "the root of the recorded events is not that of the log's tree; `meshledger verify` shows more")
            }
        }
        return summary
    }
}

/// A device or a FIFO is written in place: replacing it with a file would take it from its other users.
private struct OutputDevice: ~Copyable {
    /// How long to wait for a reader of a FIFO.
    private static let patience: UInt32 = 5_000_000
    private static let pause: UInt32 = 50_000

    let descriptor: Int32

    /// Nil if there is nothing, or a plain file.
    /// - Throws: `.exists` if the path is something that cannot be written to: a link, a folder, a socket.
    init?(_ path: String) throws(EventLogError) {
        var (own, target) = (stat(), stat())
        guard unsafe lstat(path, &own) == 0, own.st_mode & S_IFMT != S_IFREG else { return nil }
        let type = unsafe stat(path, &target) == 0 ? target.st_mode & S_IFMT : S_IFLNK
        guard type == S_IFCHR || type == S_IFIFO else {
            throw EventLogError(.exists, path: path, detail: "it is \(OwnedFile.kind(own.st_mode & S_IFMT))")
        }
        var waited: UInt32 = 0
        while true {
            let file = unsafe open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
            if file >= 0 {
                _ = fcntl(file, F_SETFL, fcntl(file, F_GETFL) & ~O_NONBLOCK)
                descriptor = file
                return
            }
            guard errno == ENXIO, waited < Self.patience else {
                throw errno == ENXIO
                    ? EventLogError(.exists, path: path, detail: "no process is reading from it") : SmallFile.failure(errno, path)
            }
            usleep(Self.pause)
            waited += Self.pause
        }
    }

    deinit { close(descriptor) }
}
