import Meshtastic
import ProtobufWire

/// The content of a packet before it is encrypted and heard.
struct SimulatedContent {
    var port: UInt32 = 0
    var payload = WireWriter(capacity: 256)
    var to = NodeID.broadcast
    var requestID: UInt32 = 0
    var replyID: UInt32 = 0
    var emoji: UInt32 = 0
    var wantsResponse = false
    var row = SimulatedFact.Row.none
    /// Whether the payload breaks the wire format.
    var isBroken = false

    mutating func clear() {
        port = 0
        payload.removeAll(keepingCapacity: true)
        to = NodeID.broadcast
        requestID = 0
        replyID = 0
        emoji = 0
        wantsResponse = false
        row = .none
        isBroken = false
    }

    func encode(to writer: inout WireWriter) {
        writer.varint(1, UInt64(port))
        writer.bytes(2, payload.bytes)
        if wantsResponse { writer.bool(3, true) }
        if requestID != 0 { writer.fixed32(6, requestID) }
        if replyID != 0 { writer.fixed32(7, replyID) }
        if emoji != 0 { writer.fixed32(8, emoji) }
        writer.varint(9, 1)
    }
}

extension MeshSimulation {
    private static let phrases = [
        "good morning", "anyone near the lake?", "signal is great up here", "testing the new antenna", "on my way",
        "rain is coming", "battery looks fine", "who hears me?", "copy that", "see you at the hut", "grüße vom Berg", "いい天気",
    ]
    private static let tapbacks = ["👍", "❤️", "😂", "👋"]

    /// Fills `content` with the node's next message.
    mutating func compose(_ index: Int) {
        content.clear()
        let dice = random.below(100)
        switch dice {
        case 0..<34: composePosition(index)
        case 34..<52: composeUser(index)
        case 52..<78: composeTelemetry(index)
        case 78..<88: composeText(index)
        case 88..<92: composeRouting(index)
        case 92..<95: composeTraceroute(index)
        case 95..<97: composeNeighbors(index)
        case 97: composeWaypoint(index)
        case 98: composeMapReport(index)
        default: if random.chance(50) { composePaxcount() } else { composeHeartbeat() }
        }
    }

    /// Removes the last byte, so that the last field is incomplete.
    mutating func breakPayload() {
        var bytes = content.payload.bytes
        bytes.removeLast()
        content.payload.removeAll(keepingCapacity: true)
        content.payload.raw(bytes)
        content.isBroken = true
        content.row = .quarantine
    }

    private mutating func composePosition(_ index: Int) {
        nodes[index].move(&random)
        let node = nodes[index]
        var position = Position()
        position.latitudeE7 = Position.reduced(node.latitude, bits: Int(node.precision))
        position.longitudeE7 = Position.reduced(node.longitude, bits: Int(node.precision))
        position.altitude = node.altitude
        position.time = now &- random.below(30)
        position.precisionBits = node.precision
        position.satellites = 4 + random.below(9)
        if node.isMoving {
            position.groundSpeed = random.below(60)
            position.groundTrack = UInt32(node.heading) * 100_000
        }
        position.pdop = 90 + random.below(300)
        content.port = Port.position
        content.row = .position
        let oddity = isOdd ? random.below(6) : .max
        if oddity < 4 { misplace(&position, oddity) }
        if oddity == 4 { position.time = random.pick(Self.wrongClocks) }
        position.encode(to: &content.payload)
        if oddity == 5 { breakPayload() }
    }

    /// Impossible places: no fix, the same at reduced precision, no coordinates at all, or off the globe.
    private mutating func misplace(_ position: inout Position, _ oddity: UInt32) {
        content.row = .none
        switch oddity {
        case 0: (position.latitudeE7, position.longitudeE7) = (0, 0)
        case 1:
            let middle = Position.reduced(0, bits: 14)
            (position.latitudeE7, position.longitudeE7, position.precisionBits) = (middle, middle, 14)
        case 2: (position.latitudeE7, position.longitudeE7) = (nil, nil)
        default:
            position.latitudeE7 = 910_000_000 + random.between(0, 1_000_000)
            content.row = .quarantine
        }
    }

    private mutating func composeUser(_ index: Int) {
        content.port = Port.nodeInfo
        let user = nodes[index].user
        guard isOdd else { return user.encode(to: &content.payload) }
        // Devices cut names in the middle of a character.
        content.payload.string(1, user.id)
        content.payload.bytes(2, Array(user.longName.utf8) + [0xf0, 0x9f])
        content.payload.bytes(3, [UInt8(ascii: "o"), 0xe0])
        content.payload.varint(5, UInt64(user.hardwareModel))
        content.payload.bytes(8, user.publicKey)
        if random.chance(50) { breakPayload() }
    }

    private mutating func composeText(_ index: Int) {
        content.port = Port.text
        content.row = .message
        if let earlier = lastText, random.chance(35) {
            content.replyID = earlier.id
            if random.chance(40) {
                content.emoji = 1
                content.payload.raw(Array(random.pick(Self.tapbacks).utf8))
                return
            }
        } else if random.chance(20) {
            content.to = nodes[Int(random.below(UInt32(nodes.count)))].number
            if content.to == nodes[index].number { content.to = NodeID.broadcast }
        }
        content.payload.raw(Array("\(random.pick(Self.phrases)) \(random.below(1_000))".utf8))
    }

    /// Replies to the last direct message, mostly with an acknowledgement.
    private mutating func composeRouting(_ index: Int) {
        content.port = Port.routing
        let reason: UInt32 = random.chance(85) ? 0 : random.pick([1, 3, 5, 8])
        Routing.error(reason).encode(to: &content.payload)
        guard let asked = lastDirect else {
            content.to = nodes[(index + 1) % nodes.count].number
            content.requestID = UInt32(truncatingIfNeeded: random.next()) | 1
            return
        }
        content.to = asked.from
        content.requestID = asked.id
        if reason == 0, random.chance(80) { answers = asked.to }
    }

    private mutating func composeTraceroute(_ index: Int) {
        content.port = Port.traceroute
        var route = RouteDiscovery()
        let hops = Int(random.below(4))
        route.route = (0..<hops).map { _ in nodes[Int(random.below(UInt32(nodes.count)))].number }
        route.snrTowards = (0...hops).map { _ in random.between(-60, 40) }
        content.to = nodes[(index + 7) % nodes.count].number
        content.requestID = UInt32(truncatingIfNeeded: random.next()) | 1
        route.encode(to: &content.payload)
    }

    private mutating func composeNeighbors(_ index: Int) {
        content.port = Port.neighborInfo
        var info = NeighborInfo()
        info.node = nodes[index].number
        info.neighbors = (0..<Int(1 + random.below(6))).map { _ in
            NeighborInfo.Neighbor(
                node: nodes[Int(random.below(UInt32(nodes.count)))].number, snr: Float(random.between(-80, 48)) / 4)
        }
        info.encode(to: &content.payload)
    }

    private mutating func composeWaypoint(_ index: Int) {
        content.port = Port.waypoint
        var waypoint = Waypoint()
        waypoint.id = 1 + random.below(500)
        waypoint.latitudeE7 = nodes[index].latitude
        waypoint.longitudeE7 = nodes[index].longitude
        waypoint.name = "meeting point"
        waypoint.expire = now &+ 86_400
        waypoint.encode(to: &content.payload)
    }

    private mutating func composeMapReport(_ index: Int) {
        content.port = Port.mapReport
        let node = nodes[index]
        var report = MapReport()
        report.longName = node.longName
        report.shortName = node.shortName
        report.hardwareModel = node.hardware
        report.role = node.role
        report.firmwareVersion = "2.7.\(5 + random.below(12)).abcdef0"
        report.latitudeE7 = Position.reduced(node.latitude, bits: 14)
        report.longitudeE7 = Position.reduced(node.longitude, bits: 14)
        report.positionPrecision = 14
        // A packet without an id is identified by its content, so no two may be alike.
        report.onlineLocalNodes = node.packetCount
        report.encode(to: &content.payload)
    }

    /// A node that stores messages for others announces itself.
    private mutating func composeHeartbeat() {
        content.port = Port.storeForward
        var heartbeat = StoreAndForward()
        heartbeat.kind = 2
        heartbeat.content = .heartbeat(period: 900, secondary: random.below(2))
        heartbeat.encode(to: &content.payload)
    }

    private mutating func composePaxcount() {
        content.port = Port.paxcounter
        content.payload.varint(1, UInt64(random.below(60)))
        content.payload.varint(2, UInt64(random.below(90)))
        content.payload.varint(3, UInt64(random.below(500_000)))
    }
}
