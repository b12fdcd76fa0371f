/// Selects events by what the index `packets` knows of them. All conditions must hold.
public struct EventSelection: Sendable, Hashable {
    /// The roles of a node in an event.
    public struct Roles: OptionSet, Sendable, Hashable {
        public var rawValue: UInt8
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// The packet is from it.
        public static let sender = Roles(rawValue: 1)
        /// The packet is to it.
        public static let addressee = Roles(rawValue: 2)
        /// It published the packet.
        public static let gateway = Roles(rawValue: 4)
        /// The packet's payload names it: as a neighbour, a hop, the owner of a waypoint's lock, the node that a remote request
        /// is about; or a radio reports about it.
        public static let named = Roles(rawValue: 8)
        public static let any: Roles = [.sender, .addressee, .gateway, .named]
    }

    public var node: UInt32?
    public var roles = Roles.any
    /// The node that published the packet.
    public var gateway: UInt32?
    /// The channel's name.
    public var channel: String?
    /// Only for readable packets.
    public var port: UInt32?
    /// Ids recur, and other nodes use the same ones.
    public var packetID: UInt32?
    /// Only events that made rows: the first readable reception of each packet, and earlier receptions that arrived later.
    public var onlyFirstReadable = false
    /// Without events that repeat an earlier reception.
    public var withoutRepeats = false
    /// In seconds since 1970: events whose rows are all earlier may be left out, and most are.
    package var rowsFrom: UInt32 = 0

    public init(
        node: UInt32? = nil, roles: Roles = .any, gateway: UInt32? = nil, channel: String? = nil, port: UInt32? = nil,
        packetID: UInt32? = nil
    ) {
        (self.node, self.roles, self.gateway, self.channel, self.port, self.packetID) = (
            node, roles, gateway, channel, port, packetID
        )
    }
}
