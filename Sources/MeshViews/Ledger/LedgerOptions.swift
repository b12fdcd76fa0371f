public import EventLog
public import Logging
public import Projections

/// How a ledger is opened.
public struct LedgerOptions: Sendable {
    public enum Access: Sendable {
        case readWrite
        /// Never changes a byte.
        case readOnly
        /// For writing if no other process does and the folder permits it; else for reading.
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
    /// How often a writer applies the retention policy that is stored in the ledger, if any.
    public var retentionPeriod = Duration.seconds(3_600)
    /// The log for errors of reads that return nothing instead of throwing (`fetchOrEmpty`).
    public var logger = Logger(label: "meshledger.queries")
    /// How many of its last changes each view keeps for its consumers.
    public var changesKept = 100_000
    /// Custom views, in addition to the built-in ones.
    public var views: [any LedgerView.Type] = []
    /// Whether earlier states of views that were queried are kept in the ledger's folder, so that the next query about the past is quick. By
    /// default where it is open for writing; a ledger that is open for reading only writes these and nothing else when this is true.
    public var keepsPast: Bool?
    /// In events: the minimum distance between these states.
    public var pastDistance: UInt64 = 1 << 18
    /// Whether indexes and searchable texts are kept beside the rows. Without them views are folded in less time and take less space, as for a ledger
    /// that is rebuilt only to be exported; a query then reads all rows. They are built when the ledger is opened with this option.
    public var keepsIndexes = true
    /// Views that are not rebuilt automatically though their recipe has changed: their old rows answer until `rebuild`.
    public var heldViews: Set<String> = []
    /// Whether a ledger whose `keys.json` cannot be read is opened for reading nevertheless, with the default keys: to check the rest.
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

/// How many rows views keep, and which. Part of their recipes: a change rebuilds the view from the log.
///
/// ```swift
/// var caps = ViewCaps(positions: 1_000)
/// caps.ofNode[0x1902_5c00] = NodeCaps(positions: 50_000)
/// caps.positionDedupe = .within(meters: 9)
/// ```
public struct ViewCaps: Sendable, Equatable {
    public var nodes: Int
    /// Per node.
    public var positions: Int
    /// Per node and kind of metrics.
    public var telemetry: Int
    /// Per thread: a channel, or two nodes.
    public var messages: Int
    public var waypoints: Int
    public var traceRoutes: Int
    public var links: Int
    public var gateways: Int
    /// Pairs of a gateway and a node that it heard.
    public var gatewayNodes: Int
    public var mapReports: Int
    /// Per node and kind of sensor.
    public var sensors: Int
    /// Entries per node.
    public var nodeHistory: Int
    /// Per source and part of its configuration.
    public var radios: Int
    /// Other caps of chosen nodes.
    public var ofNode: [UInt32: NodeCaps] = [:]
    /// Caps of favorites, where they are higher than their other caps; nil for the caps of other nodes.
    public var favorites = NodeCaps(positions: 50_000, telemetry: 50_000, sensors: 50_000)
    /// Nodes that are never evicted from the nodes view.
    public var keptNodes: Set<UInt32> = []
    /// Which positions get separate rows.
    public var positionDedupe = PositionDedupe.none
    /// Whether a position of reduced precision is kept when the node's next one is of reduced precision, too.
    public var reducedPrecisionKeepsHistory = true

    public init(
        nodes: Int = 10_000, positions: Int = 5_000, telemetry: Int = 5_000, messages: Int = 50_000, waypoints: Int = 5_000,
        traceRoutes: Int = 20_000, links: Int = 20_000, gateways: Int = 5_000, gatewayNodes: Int = 100_000,
        mapReports: Int = 10_000,
        sensors: Int = 5_000, nodeHistory: Int = 256, radios: Int = 64
    ) {
        self.nodes = nodes
        self.positions = positions
        self.telemetry = telemetry
        self.messages = messages
        self.waypoints = waypoints
        self.traceRoutes = traceRoutes
        self.links = links
        self.gateways = gateways
        self.gatewayNodes = gatewayNodes
        self.mapReports = mapReports
        self.sensors = sensors
        self.nodeHistory = nodeHistory
        self.radios = radios
    }
}

/// The caps of one node where they differ from those of all.
public struct NodeCaps: Sendable, Equatable {
    public var positions: Int?
    /// Per kind of metrics.
    public var telemetry: Int?
    /// Per kind of sensor.
    public var sensors: Int?

    public init(positions: Int? = nil, telemetry: Int? = nil, sensors: Int? = nil) {
        self.positions = positions
        self.telemetry = telemetry
        self.sensors = sensors
    }
}

/// Which positions get separate rows.
public enum PositionDedupe: Sendable, Equatable {
    /// All.
    case none
    /// Those further from the node's latest row than this: a nearer one replaces that row, which states since when the node is there.
    case within(meters: Double)
}

extension ViewCaps {
    /// Whether a position may replace the previous one.
    var thinsPositions: Bool { positionDedupe != .none || !reducedPrecisionKeepsHistory }

    /// For the recipe; empty without overrides.
    static func text(_ overrides: [UInt32: Int]) -> String {
        overrides.sorted { $0.key < $1.key }.map { ";of \($0.key)=\($0.value)" }.joined()
    }
}
