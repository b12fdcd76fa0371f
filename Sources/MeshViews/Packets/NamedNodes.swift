import Meshtastic

/// The nodes that a packet names beside its sender and its gateway, for the index.
enum NamedNodes {
    /// More than these of a payload are not kept: neighbours and hops of real ones are fewer.
    static let most = 64

    /// Whether packets of the port name nodes in their payload.
    @inline(__always)
    static func mayBe(in port: UInt32) -> Bool {
        switch port {
        case Port.traceroute, Port.neighborInfo, Port.waypoint, Port.routing: true
        default: false
        }
    }

    /// Appends those of a payload: in order, each once, neither nobody nor everybody. Of one that cannot be decoded none.
    static func append(of payload: RawSpan, port: UInt32, to nodes: inout [UInt32]) {
        let known = nodes.count
        for node in found(payload, port) where node != 0 && node != NodeID.broadcast && !nodes.contains(node) {
            guard nodes.count < known + most else { return }
            nodes.append(node)
        }
    }

    private static func found(_ payload: RawSpan, _ port: UInt32) -> [UInt32] {
        do {
            switch port {
            case Port.traceroute: return try nodes(RouteDiscovery(decoding: payload))
            case Port.routing:
                switch try Routing(decoding: payload) {
                case .routeRequest(let route), .routeReply(let route): return nodes(route)
                case .error, .unknown: return []
                }
            case Port.neighborInfo:
                let info = try NeighborInfo(decoding: payload)
                return [info.node, info.lastSentBy] + info.neighbors.map(\.node)
            case Port.waypoint: return [try Waypoint(decoding: payload).lockedTo]
            default: return []
            }
        } catch {
            return []
        }
    }

    private static func nodes(_ route: RouteDiscovery) -> [UInt32] { route.route + route.routeBack }

    /// The node that a radio tells of; 0 for none.
    static func node(ofRadioFrame payload: RawSpan) -> UInt32 {
        do {
            let number = try NodeInfo(decoding: payload).number
            return number == NodeID.broadcast ? 0 : number
        } catch {
            return 0  // the nodes view has put it into quarantine
        }
    }
}
