/// When events move from plain records into compressed blocks.
public struct SealingPolicy: Sendable, Equatable {
    /// The newest events that stay unsealed. Reading them is cheapest.
    public var hotEvents: Int
    /// Whether older events are sealed while the log is open for writing; otherwise only by `seal`.
    public var isAutomatic: Bool

    public init(hotEvents: Int = 65_536, isAutomatic: Bool = true) {
        self.hotEvents = hotEvents
        self.isAutomatic = isAutomatic
    }
}

/// What is sealed and what is not.
public struct SealingStatistics: Sendable, Equatable {
    public var sealedEvents: UInt64 = 0
    /// The last event that is not hot.
    public var lastSealed: UInt64 = 0
    public var hotEvents: UInt64 = 0
    public var blocks = 0
    /// Bytes of the file's pages with blocks.
    public var sealedBytes = 0
    /// Bytes of the file's pages with unsealed events.
    public var hotBytes = 0
}

/// How far sealing has come.
public struct SealingProgress: Sendable {
    public let sealed: UInt64
    public let target: UInt64

    package init(sealed: UInt64, target: UInt64) {
        self.sealed = sealed
        self.target = target
    }
}
