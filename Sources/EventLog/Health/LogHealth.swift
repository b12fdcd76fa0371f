/// The state of a log that is open for writing.
public struct LogHealth: Sendable, Equatable {
    /// The most bytes that the log and the files that count with it may take.
    public var sizeLimit: Int
    /// Bytes of the log's file, and of the files that count with it.
    public var logBytes = 0
    public var otherBytes = 0
    /// Transactions that were delayed because the limit is near and a reader keeps freed space from being reused.
    public var slowedCommits: UInt64 = 0
    /// Transactions that failed, for any reason.
    public var failedCommits: UInt64 = 0
    /// The message of the last failure.
    public var lastFailure: String?
    /// Whether the last transaction failed.
    public var isDegraded = false
    /// Whether a failed sync has closed the log for appending, until it is reopened.
    public var areWritesClosed = false
    /// Slots of killed readers that were freed.
    public var clearedReaders: UInt64 = 0
    /// The processes that keep freed space from being reused, the furthest behind first.
    public var readers: [LogReading] = []

    public init(sizeLimit: Int) { self.sizeLimit = sizeLimit }
}

/// A process in the middle of reading.
public struct LogReading: Sendable, Hashable {
    public let process: Int32
    /// What it reads: `log`, or a view's name.
    public let file: String
    /// Commits since it began to read. As long as it reads, the space that they freed cannot be reused, and the file grows.
    public let commitsBehind: Int
    /// How long it has been observed to read. Nil if it was not watched, which only the writing process does.
    public let duration: Duration?

    package init(process: Int32, file: String, commitsBehind: Int, duration: Duration?) {
        self.process = process
        self.file = file
        self.commitsBehind = commitsBehind
        self.duration = duration
    }

    /// Whether it has been reading for too long to be an ordinary short read.
    var isLong: Bool { commitsBehind >= Self.manyCommits || duration.map { $0 >= Self.patience } ?? false }

    private static let patience = Duration.seconds(1)
    /// This many commits occur within a second only when others append as fast as they can.
    private static let manyCommits = 64

    var text: String {
        let time = duration.map { " for \($0.components.seconds) s" } ?? ""
        return "process \(process) has been reading \(file == "log" ? "the log" : "the view \(file)")\(time) and is "
            + "\(commitsBehind) commits behind"
    }
}
