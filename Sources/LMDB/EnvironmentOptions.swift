/// How an environment is opened.
public struct EnvironmentOptions: Sendable {
    public enum Access: Sendable {
        case readWrite
        /// Never changes a byte of the data; still uses the table of readers if the folder allows it.
        case readOnly
    }

    /// What has reached the disk when a commit returns.
    public enum Durability: Sendable {
        /// Data and meta page: a commit that returned survives a power cut.
        case full
        /// Data, but not the meta page: a power cut may undo the last commits, but never damages the file. For data that can be replayed.
        case withoutMetaSync
        /// Nothing is synced: for scratch files that are useless after a crash.
        case none
    }

    public var access: Access
    public var durability: Durability
    /// The largest size of the data file, in bytes. A write that would need more throws `.sizeLimitReached`.
    public var sizeLimit: Int
    /// The most named tables that the environment may have.
    public var maximumTables: Int
    /// Creates the folder and the files if they do not exist yet.
    public var createsFolder: Bool

    /// Whether a new folder and new files are as open to a group or to all as the folder above; else they are their owner's only.
    public var isSharedLikeFolder = false

    /// Whether a reader refuses a file that is even slightly shorter than its last commit says. If pages at the end may be free
    /// and unwritten, as with tables that also shrink, a short file may be complete.
    public var refusesShortFile = false

    /// The caller's promise that no process writes while a reader has the environment open: a reader without write permission for the
    /// lock file then does without it.
    public var excludesWriters = false

    /// The address space that an environment reserves, in bytes, if the system grants it: 1 TiB costs nothing until it is used.
    public static let reservation = DataFile.largestSize

    public init(
        access: Access = .readWrite, durability: Durability = .full, sizeLimit: Int = EnvironmentOptions.reservation,
        maximumTables: Int = 32, createsFolder: Bool = true
    ) {
        self.access = access
        self.durability = durability
        self.sizeLimit = sizeLimit
        self.maximumTables = maximumTables
        self.createsFolder = createsFolder
    }
}
