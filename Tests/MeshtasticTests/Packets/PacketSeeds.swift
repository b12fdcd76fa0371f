import Meshtastic
import ProtobufWire
import TestKit

/// Valid packets of every form and port, and ways to break them.
enum PacketSeeds {
    /// A broken packet of any form and port: damaged in its payload before that was wrapped and encrypted, or anywhere.
    static func next(_ generator: inout SeededGenerator) throws -> (bytes: [UInt8], form: CaptureForm) {
        if Int.random(in: 0..<16, using: &generator) == 0 { return frameOfRadio(&generator) }
        var message = Sample()
        (message.port, message.payload) = payloads.randomElement(using: &generator) ?? (Port.text, [])
        let isInside = Int.random(in: 0..<2, using: &generator) == 0
        if isInside { mutate(&message.payload, &generator) }
        let isClear = Bool.random(using: &generator)
        let packet = isClear ? message.clear : try message.encrypted(Keyring.standard.channels[0])
        var (bytes, form): ([UInt8], CaptureForm) =
            switch Int.random(in: 0..<3, using: &generator) {
            case 0: (packet, .meshPacket)
            case 1: (Sample.envelope(packet), .serviceEnvelope)
            default: (frame(2, packet), .fromRadio)
            }
        if !isInside { mutate(&bytes, &generator) }
        return (bytes, form)
    }

    private static func frameOfRadio(_ generator: inout SeededGenerator) -> (bytes: [UInt8], form: CaptureForm) {
        var node = NodeInfo()
        (node.number, node.user, node.position, node.hopsAway) = (9, User(), Position(), 2)
        var channel = ChannelFrame()
        (channel.name, channel.psk) = ("Harbour", [1])
        var bytes: [UInt8] =
            switch Int.random(in: 0..<3, using: &generator) {
            case 0: frame(3, encoded { MyNodeInfo().encode(to: &$0) } + [0x08, 1])
            case 1: frame(4, encoded(node.encode))
            default: frame(10, encoded(channel.encode))
            }
        mutate(&bytes, &generator)
        return (bytes, .fromRadio)
    }

    private static func frame(_ number: UInt32, _ body: [UInt8]) -> [UInt8] {
        encoded { writer in
            writer.uint32(1, 3)
            writer.bytes(number, body)
        }
    }

    static func encoded(_ body: (inout WireWriter) -> Void) -> [UInt8] {
        var writer = WireWriter()
        body(&writer)
        return writer.bytes
    }

    /// A valid payload of each port that has a decoder, and of one that has none.
    static let payloads: [(UInt32, [UInt8])] = {
        var user = User()
        (user.id, user.longName, user.shortName, user.hardwareModel) = ("!00000001", "Über Node", "ÜN", 43)
        user.publicKey = [UInt8](repeating: 3, count: 32)
        var position = Position()
        (position.latitudeE7, position.longitudeE7, position.altitude, position.time) = (
            525_000_000, -134_000_000, 40, 1_700_000_000
        )
        (position.groundSpeed, position.satellites, position.precisionBits) = (3, 9, 32)
        var route = RouteDiscovery()
        (route.route, route.snrTowards, route.routeBack) = ([1, 2, .max], [4, -128, 300, 7], [9])
        var neighbors = NeighborInfo()
        (neighbors.node, neighbors.neighbors) = (5, [.init(node: 1, snr: 3.5), .init(node: 2, snr: -7)])
        var waypoint = Waypoint()
        (waypoint.id, waypoint.name, waypoint.icon, waypoint.boundingBox) = (77, "Hut", 0x1f3e0, .init())
        (waypoint.latitudeE7, waypoint.longitudeE7) = (1, 2)
        var report = MapReport()
        (report.longName, report.latitudeE7, report.region) = ("Gate", 525_000_000, 3)
        var pax = Paxcount()
        (pax.wifi, pax.bluetooth, pax.uptime) = (12, 30, 999)
        var forward = StoreAndForward()
        (forward.kind, forward.content) = (6, .history(messages: 3, window: 60, lastRequest: 1))
        return [
            (Port.text, Array("grüße from the mesh 👋".utf8)), (Port.detectionSensor, Array("door".utf8)),
            (Port.alert, Array("fire".utf8)), (Port.rangeTest, Array("seq 5".utf8)), (Port.reply, Array("pong".utf8)),
            (Port.nodeInfo, encoded(user.encode)), (Port.position, encoded(position.encode)),
            (Port.traceroute, encoded(route.encode)), (Port.routing, encoded(Routing.error(0).encode)),
            (Port.routing, encoded(Routing.routeReply(route).encode)), (Port.neighborInfo, encoded(neighbors.encode)),
            (Port.waypoint, encoded(waypoint.encode)), (Port.mapReport, encoded(report.encode)),
            (Port.paxcounter, encoded(pax.encode)), (Port.storeForward, encoded(forward.encode)),
            (Port.nodeStatus, encoded(StatusMessage(status: "on battery").encode)), (256, [1, 2, 3]),
        ]
            + TelemetryKind.allCases.map { kind in
                let metrics = encoded { writer in
                    Telemetry.encode(time: 1_700_000_000, kind: kind, to: &writer) { fields in
                        if kind == .localStats || kind == .host || kind == .trafficManagement { return fields.uint32(1, 5) }
                        if kind == .power { return fields.float(1, 3.3) }
                        if kind == .environment { return fields.float(1, -5.5) }
                        fields.uint32(1, 88)
                    }
                }
                return (Port.telemetry, metrics)
            }
    }()

    /// One to three small damages: a bit, a byte, a cut, a repetition, an insertion.
    static func mutate(_ bytes: inout [UInt8], _ generator: inout SeededGenerator) {
        for _ in 0..<Int.random(in: 1...3, using: &generator) where !bytes.isEmpty {
            let place = Int.random(in: 0..<bytes.count, using: &generator)
            switch Int.random(in: 0..<8, using: &generator) {
            case 0...2: bytes[place] ^= 1 << UInt8.random(in: 0...7, using: &generator)
            case 3, 4: bytes[place] = UInt8.random(in: 0...255, using: &generator)
            case 5: bytes.removeSubrange(place..<min(place + Int.random(in: 1...4, using: &generator), bytes.count))
            case 6: bytes.insert(contentsOf: generator.bytes(2), at: place)
            default: bytes.insert(contentsOf: bytes[place...].prefix(6), at: place)
            }
        }
    }

    /// Runs the typed decoder of a port; what it throws does not matter here.
    static func decodePayload(_ port: UInt32, _ bytes: RawSpan) {
        do throws(WireError) {
            switch port {
            case Port.position: _ = try Position(decoding: bytes)
            case Port.nodeInfo: _ = try User(decoding: bytes)
            case Port.telemetry: _ = try Telemetry(decoding: bytes)
            case Port.routing: _ = try Routing(decoding: bytes)
            case Port.traceroute: _ = try RouteDiscovery(decoding: bytes)
            case Port.neighborInfo: _ = try NeighborInfo(decoding: bytes)
            case Port.waypoint: _ = try Waypoint(decoding: bytes)
            case Port.mapReport: _ = try MapReport(decoding: bytes)
            case Port.paxcounter: _ = try Paxcount(decoding: bytes)
            case Port.storeForward: _ = try StoreAndForward(decoding: bytes)
            case Port.nodeStatus: _ = try StatusMessage(decoding: bytes)
            default: _ = bytes.asRepairedString
            }
        } catch { _ = error.description }
    }

    static func decodeFrame(_ variant: UInt8, _ bytes: RawSpan) {
        do throws(WireError) {
            switch variant {
            case 3: _ = try MyNodeInfo(decoding: bytes)
            case 4: _ = try NodeInfo(decoding: bytes)
            case 10: _ = try ChannelFrame(decoding: bytes)
            default: break
            }
        } catch { _ = error.description }
    }
}
