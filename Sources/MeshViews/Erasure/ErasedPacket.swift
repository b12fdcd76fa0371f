/// A packet whose rows are removed from the baselines: messages, positions, telemetry, sensors, waypoints that it changed last, trace routes, map reports,
/// what it changed in a node's history, what was kept of such rows when they were archived, its entries in the index, and what the fold remembers of it. Its
/// contributions to rows of nodes, links, gateways, channels and hardware cannot be separated from the others, and rows of custom views are not known.
public struct ErasedPacket: Sendable, Hashable {
    public var id: UInt32
    /// Nil matches any.
    public var sender: UInt32?

    public init(id: UInt32, sender: UInt32? = nil) {
        self.id = id
        self.sender = sender
    }
}
