/// How many rows views keep, at least 1 of each kind, and which. Part of their recipes: a change rebuilds the view from the log.
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
    /// The pairs of a gateway and a node that it heard.
    public var gatewayNodes: Int
    public var mapReports: Int
    /// Per node and kind of sensor.
    public var sensors: Int
    /// Entries per node.
    public var nodeHistory: Int
    /// Per source and part of its configuration.
    public var radios: Int
    /// Overrides for chosen nodes.
    public var ofNode: [UInt32: NodeCaps] = [:]
    /// Caps of favorites, if higher than their other caps; nil for the same caps as other nodes.
    public var favorites = NodeCaps(positions: 50_000, telemetry: 50_000, sensors: 50_000)
    /// Nodes that are never evicted from the nodes view.
    public var keptNodes: Set<UInt32> = []
    /// Which positions get separate rows.
    public var positionDedupe = PositionDedupe.none
    /// Whether a position of reduced precision is kept when the node's next one has reduced precision, too.
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

/// The caps of one node that differ from those of all.
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
    /// Only those further from the node's latest row than this: a nearer one replaces that row, which says since when the node has been there.
    case within(meters: Double)
}

extension ViewCaps {
    /// Views keep at least one row.
    package var areValid: Bool {
        let all = [
            nodes, positions, telemetry, messages, waypoints, traceRoutes, links, gateways, gatewayNodes, mapReports, sensors,
        ]
        let ofNodes = ([favorites] + ofNode.values).flatMap { [$0.positions, $0.telemetry, $0.sensors] }.compactMap(\.self)
        return (all + [nodeHistory, radios] + ofNodes).allSatisfy { $0 > 0 }
    }

    /// Whether a position may replace the previous one.
    package var thinsPositions: Bool { positionDedupe != .none || !reducedPrecisionKeepsHistory }

    /// The text in the recipe; empty without overrides.
    static func text(_ overrides: [UInt32: Int]) -> String {
        overrides.sorted { $0.key < $1.key }.map { ";of \($0.key)=\($0.value)" }.joined()
    }
}
