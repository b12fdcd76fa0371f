package import Meshtastic

/// The nodes that a packet names besides its sender and its gateway, for the index.
package enum NamedNodes {
    /// Further nodes of a payload are not kept: real payloads have fewer neighbours and hops.
    static let most = 64

    /// Whether packets of the port name nodes in their payload.
    @inline(__always)
    static func mayBe(in port: UInt32) -> Bool {
        switch port {
        case Port.traceroute, Port.neighborInfo, Port.waypoint, Port.routing: true
        default: false
        }
    }

    /// Appends those of a payload: in order, each once, without 0 and the broadcast number. None for a payload that cannot be decoded.
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

    /// Those of an event: of a packet's payload, or the node that a radio reports about.
    package static func of(_ packet: DecodedPacket, in batch: PacketBatch) -> [UInt32] {
        var nodes: [UInt32] = []
        if packet.hasPacket {
            guard packet.isOpen, mayBe(in: packet.port) else { return [] }
            append(of: batch.payload(of: packet), port: packet.port, to: &nodes)
        } else if packet.fromRadio == FromRadioVariant.nodeInfo {
            let node = node(ofRadioFrame: batch.payload(of: packet))
            if node != 0 { nodes.append(node) }
        }
        return nodes
    }

    /// The node that a radio reports about; 0 if there is none.
    static func node(ofRadioFrame payload: RawSpan) -> UInt32 {
        do {
            let number = try NodeInfo(decoding: payload).number
            return number == NodeID.broadcast ? 0 : number
        } catch {
            return 0  // the nodes view has put it into quarantine
        }
    }
}
