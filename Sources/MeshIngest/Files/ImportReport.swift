public import EventLog

/// What an import did.
public struct ImportReport: Sendable {
    /// A part of a file that could not be read.
    public struct Problem: Sendable, Equatable {
        /// The number of the line or frame in the file, from 1.
        public var number: Int
        /// `line` or `frame`.
        public var unit: String
        public var reason: String
    }

    /// The last bytes of a file, which may still be growing: the start of a line or frame.
    public struct Leftover: Sendable, Equatable {
        public var byteCount: Int
        /// Where they begin.
        public var offset: Int
    }

    /// How many problems are reported one by one.
    public static let problemLimit = 20

    /// The format; nil for an empty file.
    public var format: ImportFormat?
    public var sourceName: String
    /// Events appended by this import, including unreadable ones.
    public var eventCount = 0
    /// The first and the last of them.
    public var sequences: ClosedRange<EventSequence>?
    /// How many lines or frames were kept as unreadable text, each in one event, or in several if it is long.
    public var unreadableCount = 0
    /// The first of them.
    public var problems: [Problem] = []
    /// Where this import began: above 0 if an earlier one had imported the bytes before.
    public var startOffset = 0
    /// The first byte not imported.
    public var endOffset = 0
    /// Bytes that belong to no record, such as console text on a serial port.
    public var skippedBytes = 0
    public var leftover: Leftover?
    /// Channel keys that radios reported in the imported part; they are zeroed in the events.
    public var radioKeys = RadioKeys()
    /// Whether the import was cancelled. What it had read is stored, and the next import of the file continues there.
    public var isInterrupted = false
    public var seconds = 0.0

    public init(sourceName: String) { self.sourceName = sourceName }
}

/// The progress of an import.
public struct ImportProgress: Sendable {
    /// Bytes of the file up to the last stored event.
    public var bytesDone: Int
    /// The file's size; nil for a pipe.
    public var bytesTotal: Int?
    /// Events appended.
    public var eventCount: Int
    public var eventsPerSecond: Double
    /// Seconds left at this rate; nil for a pipe and before the rate is known.
    public var secondsLeft: Double?
}
