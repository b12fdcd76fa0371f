public import EventLog
public import Logging
import MeshViews
public import Projections

/// How a ledger is opened.
///
/// ```swift
/// var options = LedgerOptions()
/// options.caps.messages = 100_000
/// let ledger = try await Ledger.open(at: "/srv/mesh.ledger", options: options)
/// ```
public struct LedgerOptions: Sendable {
    public enum Access: Sendable {
        case readWrite
        /// Never changes a byte.
        case readOnly
        /// For writing if no other process writes and the folder permits it; otherwise for reading.
        case automatic
    }

    public var access: Access
    /// The log's limits and clock; its access follows the ledger's. The size limit covers log and views together; the one that is stored in
    /// the ledger (`SizeLimit`) also applies.
    public var log: EventLogOptions
    /// The clock of the flush timers.
    public var flushClock: any LedgerClock
    public var flushPolicy: FlushPolicy
    public var caps: ViewCaps
    /// Whether other processes can reach a ledger that is open for writing through its control socket: to import, change keys, rebuild and
    /// so on.
    public var isControllable: Bool
    /// How often a writer applies the retention policy that is stored in the ledger, if any; a changed one it applies within half a minute.
    public var retentionPeriod = Duration.seconds(3_600)
    /// How often it looks whether the policy has changed, which also is when it is first applied.
    package var policyLookInterval = Duration.seconds(30)
    /// The log for errors of reads that return nothing instead of throwing (`fetchOrEmpty`).
    public var logger = Logger(label: "meshledger.queries")
    /// How many of its last changes each view keeps for its consumers.
    public var changesKept = 100_000
    /// Custom views, in addition to the built-in ones.
    public var views: [any LedgerView.Type] = []
    /// Whether earlier states of views that were queried are kept in the ledger's folder, so that the next query about the past is quick. The
    /// default is yes if it is open for writing; if this is true, a ledger that is open for reading only writes these and nothing else.
    public var keepsPast: Bool?
    /// In events: the minimum distance between these states.
    public var pastDistance: UInt64 = 1 << 18
    /// Whether indexes and searchable texts are kept beside the rows. Without them views are folded in less time and take less space, as for a ledger
    /// that is rebuilt only to be exported; a query then reads all rows. They are built when the ledger is opened with this option.
    public var keepsIndexes = true
    /// Views that are not rebuilt automatically when their recipe has changed: their old rows answer until `rebuild`.
    public var heldViews: Set<String> = []
    /// Whether a ledger whose `keys.json` cannot be read can still be opened for reading, with the default keys, to check the rest.
    public var toleratesBrokenKeys = false

    public init(
        access: Access = .readWrite, log: EventLogOptions = EventLogOptions(), flushClock: any LedgerClock = MonotonicClock(),
        flushPolicy: FlushPolicy = FlushPolicy(), caps: ViewCaps = ViewCaps(), isControllable: Bool = true
    ) {
        self.access = access
        self.log = log
        self.flushClock = flushClock
        self.flushPolicy = flushPolicy
        self.caps = caps
        self.isControllable = isControllable
    }
}
