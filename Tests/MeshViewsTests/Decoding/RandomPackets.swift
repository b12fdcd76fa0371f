import Meshtastic
import TestKit

/// Traffic of twenty nodes with repeats, receipts, direct messages and bad clocks.
struct RandomPackets {
    var ids: Range<UInt32> = 1..<200
    var waypoints: ClosedRange<UInt32> = 1...20
    var secondsApart: UInt32 = 20

    func packets(_ count: Int, seed: UInt64) -> [MeshPacketBuilder] {
        var random = SeededGenerator(seed: seed)
        return (0..<count).map { index in
            let from = UInt32.random(in: 5_000..<5_020, using: &random)
            let id = UInt32.random(in: ids, using: &random)
            let time = 1_780_000_000 + UInt32(index) * secondsApart + UInt32.random(in: 0..<500, using: &random)
            var packet = MeshPacketBuilder(from: from, id: id, rxTime: time)
            packet.gateway = ["!00000011", "!00000012"][Int.random(in: 0..<2, using: &random)]
            packet.hopStart = 3
            packet.hopLimit = UInt32.random(in: 2...3, using: &random)
            packet.snr = Float(Int.random(in: -80...40, using: &random)) / 4
            switch Int.random(in: 0..<9, using: &random) {
            case 0:
                packet.port = Port.position
                packet.payload = MeshPacketBuilder.position(Int32.random(in: 1...9_000, using: &random), 7)
            case 1:
                packet.port = Port.nodeInfo
                packet.payload = MeshPacketBuilder.user(
                    "node \(from) \(index % 3)", key: [UInt8](repeating: UInt8.random(in: 1...9, using: &random), count: 32),
                    hardware: UInt32.random(in: 0...4, using: &random))
            case 2:
                packet.port = Port.routing
                packet.to = UInt32.random(in: 5_000..<5_020, using: &random)
                packet.requestID = UInt32.random(in: ids, using: &random)
                packet.payload = MeshPacketBuilder.routing(error: UInt32.random(in: 0..<2, using: &random) * 5)
            case 4:
                packet.port = [Port.rangeTest, Port.mapReport][index % 2]
                packet.payload =
                    packet.port == Port.rangeTest ? Array("seq \(index)".utf8) : MeshPacketBuilder.mapReport("m \(index)")
            case 3:
                packet.payload = Array("text \(index)".utf8)
                packet.to = UInt32.random(in: 5_000..<5_020, using: &random)
            case 5:
                packet.port = Port.waypoint
                packet.payload = MeshPacketBuilder.waypoint(
                    UInt32.random(in: waypoints, using: &random), "place \(index)",
                    expire: [0, 1, time + 1_000][Int.random(in: 0..<3, using: &random)],
                    lockedTo: UInt32.random(in: 0..<3, using: &random) == 0 ? from : 0)
            case 6:
                packet.port = Port.traceroute
                packet.to = UInt32.random(in: 5_000..<5_020, using: &random)
                packet.requestID = Bool.random(using: &random) ? UInt32.random(in: ids, using: &random) : 0
                let hops = (0..<Int.random(in: 0...3, using: &random)).map { UInt32(5_000 + $0) }
                packet.payload = MeshPacketBuilder.route(hops, hops.map { _ in 12 }, back: hops, hops.map { _ in -128 })
            case 7:
                packet.port = Port.neighborInfo
                packet.payload = MeshPacketBuilder.neighbors(
                    of: from, (0..<3).map { _ in (UInt32.random(in: 5_000..<5_020, using: &random), 2.5) })
            default: packet.payload = Array("text \(index)".utf8)
            }
            return packet
        }
    }
}
