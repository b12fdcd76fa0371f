package import Meshtastic
internal import ProtobufWire

/// The nodes that a packet names besides its sender and its gateway, for the index.
package enum NamedNodes {
    /// Further nodes of a payload are not kept: real payloads have fewer neighbours and hops.
    static let most = 64

    /// Whether an open packet names nodes: in its payload, by its port, or beside it.
    @inline(__always)
    static func mayBe(in packet: DecodedPacket) -> Bool {
        mayBe(in: packet.port) || packet.destination | packet.source != 0
    }

    @inline(__always)
    private static func mayBe(in port: UInt32) -> Bool {
        switch port {
        case Port.traceroute, Port.neighborInfo, Port.waypoint, Port.routing, Port.nodeInfo, Port.admin,
            Port.storeForwardPlusPlus:
            true
        default: false
        }
    }

    /// Appends those of an open packet: in order, each once, without 0 and the broadcast number.
    static func append(of packet: DecodedPacket, in batch: borrowing PacketBatch, to nodes: inout [UInt32]) {
        if mayBe(in: packet.port) { append(of: batch.payload(of: packet), port: packet.port, from: packet.from, to: &nodes) }
        for node in [packet.destination, packet.source] where ![0, NodeID.broadcast, packet.from].contains(node) {
            if !nodes.contains(node) { nodes.append(node) }
        }
    }

    /// None for a payload that cannot be decoded.
    private static func append(of payload: RawSpan, port: UInt32, from sender: UInt32, to nodes: inout [UInt32]) {
        let known = nodes.count
        if port == Port.nodeInfo {
            let node = owner(payload)
            if node != 0, node != NodeID.broadcast, node != sender, !nodes.contains(node) { nodes.append(node) }
            return
        }
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
            case Port.admin: return try nodesOfAdmin(payload)
            case Port.storeForwardPlusPlus: return try numbers(of: payload, at: 7...8)
            default: return []
            }
        } catch {
            return []
        }
    }

    /// The node whose id a user's information has, which is the sender's unless it is forged or relayed; 0 if it has none.
    private static func owner(_ user: RawSpan) -> UInt32 {
        var (reader, node) = (WireReader(user), UInt32(0))
        do throws(WireError) {
            while let field = try reader.next() {
                if field.tag == WireField.tag(1, .lengthDelimited) { node = NodeID.parse(reader.bytes(field)) }
            }
        } catch {
            return 0
        }
        return node
    }

    /// Those that are removed, marked or unmarked, and the node of a contact or of a verification.
    private static func nodesOfAdmin(_ message: RawSpan) throws(WireError) -> [UInt32] {
        var (reader, nodes) = (WireReader(message), [UInt32]())
        while let field = try reader.next() {
            switch field.tag {
            case WireField.tag(38, .varint), WireField.tag(39, .varint), WireField.tag(40, .varint), WireField.tag(47, .varint),
                WireField.tag(48, .varint), WireField.tag(49, .varint):
                nodes.append(field.asUInt32)
            case WireField.tag(66, .lengthDelimited): nodes += try numbers(of: reader.bytes(field), at: 1...1)
            case WireField.tag(67, .lengthDelimited): nodes += try numbers(of: reader.bytes(field), at: 2...2)
            default: break
            }
        }
        return nodes
    }

    private static func numbers(of message: RawSpan, at fields: ClosedRange<UInt32>) throws(WireError) -> [UInt32] {
        var (reader, numbers) = (WireReader(message), [UInt32]())
        while let field = try reader.next() {
            if fields.contains(field.number), field.tag == WireField.tag(field.number, .varint) { numbers.append(field.asUInt32) }
        }
        return numbers
    }

    private static func nodes(_ route: RouteDiscovery) -> [UInt32] { route.route + route.routeBack }

    /// Those of an event: of a packet's payload, or the node that a radio reports about.
    package static func of(_ packet: DecodedPacket, in batch: PacketBatch) -> [UInt32] {
        var nodes: [UInt32] = []
        if packet.hasPacket {
            if packet.isOpen, mayBe(in: packet) { append(of: packet, in: batch, to: &nodes) }
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
