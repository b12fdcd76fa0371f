/// The result of a compaction.
public struct LogCompaction: Sendable, Equatable {
    /// Bytes of the log's file before and after.
    public let sizeBefore: Int
    public let sizeAfter: Int
    /// The generation that is the log now.
    public let generation: UInt32

    package init(sizeBefore: Int, sizeAfter: Int, generation: UInt32) {
        self.sizeBefore = sizeBefore
        self.sizeAfter = sizeAfter
        self.generation = generation
    }
}
