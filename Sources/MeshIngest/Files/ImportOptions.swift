/// How a file is imported.
public struct ImportOptions: Sendable {
    /// The file's format; nil to detect it.
    public var format: ImportFormat?
    /// Whether the file is known to be complete: a truncated last line or frame is then kept as unreadable instead of left for later.
    public var isComplete = false
    /// The name of the source; nil for `file:` and the file's name.
    public var sourceName: String?
    /// The most events in one transaction.
    public var batchLimit = 4_096
    /// How often progress is reported, in seconds.
    public var progressIntervalSeconds = 0.1

    public init(format: ImportFormat? = nil, isComplete: Bool = false, sourceName: String? = nil) {
        self.format = format
        self.isComplete = isComplete
        self.sourceName = sourceName
    }
}
