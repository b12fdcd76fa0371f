internal import Glibc

extension EventLog {
    /// Writes the log's events, with their salts, sources and import marks, into a file that any other log can import: an exact copy, where
    /// all were recorded.
    ///
    /// The log may be written to meanwhile; what comes later is not in the recording. The file has its name when it is complete and on the disk.
    ///
    /// - Parameters:
    ///   - path: a file that is replaced where it exists.
    ///   - progress: called after each step; returning false ends it with `.closed`.
    /// - Throws: `.diskFull`, `.permission`, `.corrupt` at an event whose checksum does not match.
    @discardableResult
    public func record(
        to path: String, _ selection: RecordingSelection = .all, progress: (RecordingProgress) -> Bool = { _ in true }
    ) throws(EventLogError) -> RecordingSummary {
        let unfinished = path + ".new"
        let file = unsafe Glibc.open(unfinished, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw SmallFile.failureToMake(errno, path) }
        defer { Glibc.close(file) }
        do throws(EventLogError) {
            let summary = try record(toDescriptor: file, path: path, selection, progress: progress)
            guard fsync(file) == 0 else { throw SmallFile.failure(errno, unfinished) }
            guard unsafe rename(unfinished, path) == 0 else { throw SmallFile.failure(errno, path) }
            return summary
        } catch {
            unsafe unlink(unfinished)
            throw error
        }
    }

    /// Writes the recording to an open file or pipe.
    ///
    /// - Parameter path: what it is called in errors.
    @discardableResult
    public func record(
        toDescriptor descriptor: Int32, path: String, _ selection: RecordingSelection = .all,
        progress: (RecordingProgress) -> Bool = { _ in true }
    ) throws(EventLogError) -> RecordingSummary {
        let snapshot = try RecordingSnapshot(self)
        let first = max(selection.first?.rawValue ?? 1, snapshot.cut + 1)
        let last = min(selection.last?.rawValue ?? snapshot.head, snapshot.head)
        guard first <= last || snapshot.head == snapshot.cut else {
            throw EventLogError(.tooFewEvents, path: self.path, detail: "it has no events to record there")
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
        let note = isWhole && !isEmpty ? try? checkpoint(size: EventSequence(snapshot.head)) : nil  // the key may not be readable
        let summary = try writer.write(snapshot, checkpoint: note, isEmpty: isEmpty, progress: progress)
        if range.lowerBound == 1, !isEmpty, selection.isWanted == nil {
            guard try root(size: EventSequence(range.upperBound)) == summary.root else {
                throw EventLogError(
                    .corrupt, path: path,
                    detail: "what was recorded has not the root of the log's tree; `meshledger verify` tells more")
            }
        }
        return summary
    }
}
