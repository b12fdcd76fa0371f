public import EventLog

/// The result of salvaging a damaged log.
public struct SalvageReport: Sendable, Equatable {
    /// Events whose records' checksums match.
    public internal(set) var saved = 0
    public internal(set) var payloadBytes = 0
    /// Sequences up to the last event whose records are damaged or missing.
    public internal(set) var missing = 0
    /// The first ranges of them, at most 10,000.
    public internal(set) var missingRanges: [ClosedRange<EventSequence>] = []
    /// Events that retention had dropped; they remain dropped.
    public internal(set) var dropped: UInt64 = 0
    /// Events that were found although the file's own lists no longer lead to them.
    public internal(set) var found = 0
    /// Records beyond the end of the log, of an unfinished write. They were never acknowledged and are not copied.
    public internal(set) var unfinished = 0
    /// Events of which the file contains different records. The one in use was copied, or else the one that arrived last.
    public internal(set) var disputed = 0
    /// Sources whose names are lost. Their events keep the sources' numbers.
    public internal(set) var namelessSources: [SourceID] = []
    public internal(set) var sources = 0
    public internal(set) var cursors = 0
    /// Whether all cursors could be read. An import that lacks its cursor reads its file again from the start.
    public internal(set) var hasAllCursors = false
    /// Events that were copied from other logs and whose origins are known.
    public internal(set) var origins: UInt64 = 0
    /// Copies whose salts are lost: they count as events of the new log, and importing or merging them again adds them again.
    public internal(set) var lostOrigins: UInt64 = 0
    /// Whether all rows with the origins of events could be read.
    public internal(set) var hasAllOrigins = false
    /// Whether the file states how many events the log had. Otherwise some may be missing after the last that was found.
    public internal(set) var knowsEnd = false

    /// Whether the log still has everything.
    public var isComplete: Bool {
        missing == 0 && knowsEnd && namelessSources.isEmpty && hasAllCursors && hasAllOrigins && lostOrigins == 0
    }

    mutating func miss(_ range: ClosedRange<UInt64>) {
        missing += Int(clamping: range.upperBound - range.lowerBound + 1)
        missingRanges.join(EventSequence(range.lowerBound)...EventSequence(range.upperBound))
        if missingRanges.count > 10_000 { missingRanges.removeLast() }
    }
}

/// The progress of a salvage.
public struct SalvageProgress: Sendable {
    public enum Stage: Sendable {
        /// Reading the damaged file; in bytes.
        case reading
        /// Going through what was found; in events.
        case gathering
    }

    public let stage: Stage
    public let done: Int
    public let total: Int
}
