import Meshtastic
import ProtobufWire

/// What a packet says before it is encrypted and heard.
struct SimulatedContent {
    var port: UInt32 = 0
    var payload = WireWriter(capacity: 256)
    var to = NodeID.broadcast
    var requestID: UInt32 = 0
    var replyID: UInt32 = 0
    var emoji: UInt32 = 0
    var wantsResponse = false

    mutating func clear() {
        port = 0
        payload.removeAll(keepingCapacity: true)
        to = NodeID.broadcast
        requestID = 0
        replyID = 0
        emoji = 0
        wantsResponse = false
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

    /// Fills `content` with what this node says next.
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
        default: composePaxcount()
        }
    }

    private mutating func composePosition(_ index: Int) {
        nodes[index].move(&random)
        let node = nodes[index]
        var position = Position()
        position.latitudeE7 = SimulatedNode.reduced(node.latitude, to: node.precision)
        position.longitudeE7 = SimulatedNode.reduced(node.longitude, to: node.precision)
        position.altitude = node.altitude
        position.time = now - random.below(30)
        position.precisionBits = node.precision
        position.satellites = 4 + random.below(9)
        if node.isMoving {
            position.groundSpeed = random.below(60)
            position.groundTrack = UInt32(node.heading) * 100
        }
        position.pdop = 90 + random.below(300)
        content.port = Port.position
        position.encode(to: &content.payload)
    }

    private mutating func composeUser(_ index: Int) {
        content.port = Port.nodeInfo
        nodes[index].user.encode(to: &content.payload)
    }

    private mutating func composeTelemetry(_ index: Int) {
        nodes[index].uptime &+= 60 + random.below(900)
        if random.chance(10) { nodes[index].battery = 20 + random.below(82) }
        let node = nodes[index]
        content.port = Port.telemetry
        content.payload.fixed32(1, now - random.below(20))
        let kind = node.hasSensors ? random.below(10) : random.below(6)
        switch kind {
        case 0: composeLocalStatistics(node)
        case 6, 7: composeEnvironment()
        case 8: content.payload.message(5) { $0.float(1, Float(3_300 + Int(node.battery)) / 1_000) }
        case 9: content.payload.message(4) { $0.varint(1, UInt64(node.uptime % 50)) }
        default:
            let load = Float(random.below(2_500)) / 100
            content.payload.message(2) { metrics in
                metrics.varint(1, UInt64(node.battery))
                metrics.float(2, Float(3_300 + 8 * Int(min(node.battery, 100))) / 1_000)
                metrics.float(3, load)
                metrics.float(4, load / 8)
                metrics.varint(5, UInt64(node.uptime))
            }
        }
    }

    private mutating func composeEnvironment() {
        let temperature = Float(random.between(-1_500, 3_800)) / 100
        let humidity = Float(random.below(10_000)) / 100
        content.payload.message(3) { metrics in
            metrics.float(1, temperature)
            metrics.float(2, humidity)
            metrics.float(3, 960 + humidity / 2)
        }
    }

    private mutating func composeLocalStatistics(_ node: SimulatedNode) {
        let sent = random.below(5_000)
        content.payload.message(6) { metrics in
            metrics.varint(1, UInt64(node.uptime))
            metrics.float(2, Float(sent % 40))
            metrics.varint(4, UInt64(sent))
            metrics.varint(5, UInt64(sent) * 7)
        }
    }

    private mutating func composeText(_ index: Int) {
        content.port = Port.text
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

    /// Answers the last direct message, mostly with an acknowledgement.
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
        waypoint.expire = now + 86_400
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
        report.latitudeE7 = SimulatedNode.reduced(node.latitude, to: 14)
        report.longitudeE7 = SimulatedNode.reduced(node.longitude, to: 14)
        report.positionPrecision = 14
        report.encode(to: &content.payload)
    }

    private mutating func composePaxcount() {
        content.port = Port.paxcounter
        content.payload.varint(1, UInt64(random.below(60)))
        content.payload.varint(2, UInt64(random.below(90)))
        content.payload.varint(3, UInt64(random.below(500_000)))
    }
}
