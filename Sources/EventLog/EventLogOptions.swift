/// How a log is opened.
public struct EventLogOptions: Sendable {
    public enum Access: Sendable {
        case readWrite
        case readOnly
    }

    public var access: Access
    /// The most bytes that the log's file may take. If a reader keeps freed space from being reused, appends slow down in the last
    /// eighth; what does not fit throws `.sizeLimitReached`.
    public var sizeLimit: Int
    /// The most bytes of events that wait in the queue while their callers do not (see `submit`).
    public var queueLimit: Int
    /// Whether an append waits for the disk. Only temporary logs may do without.
    public var isDurable: Bool
    /// Whether the checksums of the last events are checked at open.
    public var checksTail: Bool
    /// The most bytes of decompressed blocks that are cached for scattered reads of sealed events.
    public var blockCacheLimit: Int
    /// When events are sealed.
    public var sealing: SealingPolicy
    /// Writes what sealed blocks disclose, so that readers can skip them; nil for nothing.
    public var summariser: EventSummariser?
    /// The clock that arrival times are read from. Jumps of the system's clock become events; one of your own is believed.
    public var clock: @Sendable () -> Timestamp { didSet { steadyClock = nil } }
    /// A steady clock, in microseconds, against which jumps of the other clock are noticed; nil for none, as with the caller's clock.
    package var steadyClock: (@Sendable () -> Int64)?
    /// The source of salts, identifiers and keys: the system, except in tests that must repeat bit by bit.
    package var randomBytes: @Sendable (_ count: Int) -> [UInt8] = Self.systemRandomBytes
    /// The source of the seeds of tiles' salts in these tests; else `randomBytes`.
    package var saltSeed: (@Sendable (_ tile: UInt64) -> [UInt8])?
    /// The identifier of a log that is created, 16 bytes, and its time of creation: for a copy, those of the original.
    package var identifier: [UInt8]?
    package var created: Timestamp?
    /// Where a new log begins, if not with event 1.
    package var beginning: LogBeginning?
    /// Whether the folder is removed when the log is closed.
    var isTemporary = false
    /// Whether the writer works as for a file in memory: by its file system, except in tests that need the other way.
    package var isInMemory: Bool?
    /// How often a writer checks which reader keeps freed space from being reused, and whether readers have died.
    package var lookInterval = Duration.seconds(1)
    /// The longest time that a commit is held back when the size limit is near because of a reader.
    package var slowestCommit = Duration.seconds(1)
    /// For tests: called before each commit to decide whether it should fail.
    package var commitFault: (@Sendable () -> CommitFault?)?
    /// For tests: called with the folder of a new generation when it is copied, before it is compared with the log.
    package var copied: (@Sendable (_ path: String) -> Void)?

    public init(
        access: Access = .readWrite, sizeLimit: Int = 1 << 40, queueLimit: Int = 32 << 20, isDurable: Bool = true,
        checksTail: Bool = true, blockCacheLimit: Int = 16 << 20, sealing: SealingPolicy = SealingPolicy(),
        summariser: EventSummariser? = nil, clock: (@Sendable () -> Timestamp)? = nil
    ) {
        self.access = access
        self.sizeLimit = sizeLimit
        self.queueLimit = queueLimit
        self.isDurable = isDurable
        self.checksTail = checksTail
        self.blockCacheLimit = blockCacheLimit
        self.sealing = sealing
        self.summariser = summariser
        self.clock = clock ?? Self.systemClock
        steadyClock = clock == nil ? ClockWatch.systemSteadyTime : nil
    }
    private static let systemClock: @Sendable () -> Timestamp = { Timestamp.now }

    private static func systemRandomBytes(_ count: Int) -> [UInt8] {
        // The generator asks the kernel for each number, so it is asked for whole words only.
        var generator = SystemRandomNumberGenerator()
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count + 7)
        while bytes.count < count {
            unsafe withUnsafeBytes(of: generator.next()) { unsafe bytes.append(contentsOf: $0) }
        }
        bytes.removeLast(bytes.count - count)
        return bytes
    }
}
