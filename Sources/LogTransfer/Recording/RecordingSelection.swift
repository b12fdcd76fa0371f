public import EventLog

/// Which events of a log are recorded.
///
/// All of them, or a range of sequences, keep their sequences: the recording is (a part of) the log. Any other selection makes a new log, whose
/// events get new numbers and keep their origins.
public struct RecordingSelection: Sendable {
    /// The first and the last event; nil for the log's.
    public var first: EventSequence?
    public var last: EventSequence?
    /// Only events for which it returns true.
    public var isWanted: (@Sendable (EventHeader, RawSpan) -> Bool)?
    /// Which sealed blocks need not be opened.
    public var blocks: BlockFilter?
    /// A description of the selection, for people; part of what identifies the new log.
    public var text: String

    public init(
        first: EventSequence? = nil, last: EventSequence? = nil,
        where isWanted: (@Sendable (EventHeader, RawSpan) -> Bool)? = nil,
        blocks: BlockFilter? = nil, text: String = ""
    ) {
        self.first = first
        self.last = last
        self.isWanted = isWanted
        self.blocks = blocks
        self.text = text
    }

    /// Everything.
    public static var all: RecordingSelection { RecordingSelection() }
}

/// The contents of a recording.
public struct RecordingSummary: Sendable, Equatable {
    /// The identifier of the recorded log; a new one if only some of another log's events were selected.
    public var ledger: String
    /// The log from which the events were selected; nil if the log is recorded as it is.
    public var selectedFrom: String?
    public var selection = ""
    public var eventCount: UInt64 = 0
    /// The first event's sequence.
    public var first = EventSequence(1)
    /// The root of the tree over the recorded events: that of the log, if all are recorded.
    public var root: [UInt8] = []
    public var byteCount = 0
    /// The signed checkpoint in the recording.
    public var checkpoint: SignedNote?

    package init(
        ledger: String, selectedFrom: String? = nil, selection: String = "", eventCount: UInt64 = 0,
        first: EventSequence = EventSequence(1), root: [UInt8] = [], byteCount: Int = 0, checkpoint: SignedNote? = nil
    ) {
        (self.ledger, self.selectedFrom, self.selection, self.eventCount) = (ledger, selectedFrom, selection, eventCount)
        (self.first, self.root, self.byteCount, self.checkpoint) = (first, root, byteCount, checkpoint)
    }

    public var last: EventSequence { EventSequence(first.rawValue + eventCount - 1) }
}

/// The progress of recording or importing, in events.
public struct RecordingProgress: Sendable {
    public var done: UInt64
    /// Nil if it is unknown.
    public var total: UInt64?

    package init(done: UInt64, total: UInt64?) { (self.done, self.total) = (done, total) }
}
