import Meshtastic
import ProtobufWire
import Testing

@Suite struct PayloadTests {
    @Test func `payloads come back from what they were encoded to`() throws {
        for (port, bytes) in PacketSeeds.payloads {
            let again: [UInt8]
            switch port {
            case Port.position: again = PacketSeeds.encoded(try Position(decoding: bytes.rawSpan).encode)
            case Port.nodeInfo: again = PacketSeeds.encoded(try User(decoding: bytes.rawSpan).encode)
            case Port.routing: again = PacketSeeds.encoded(try Routing(decoding: bytes.rawSpan).encode)
            case Port.traceroute: again = PacketSeeds.encoded(try RouteDiscovery(decoding: bytes.rawSpan).encode)
            case Port.neighborInfo: again = PacketSeeds.encoded(try NeighborInfo(decoding: bytes.rawSpan).encode)
            case Port.waypoint: again = PacketSeeds.encoded(try Waypoint(decoding: bytes.rawSpan).encode)
            case Port.mapReport: again = PacketSeeds.encoded(try MapReport(decoding: bytes.rawSpan).encode)
            case Port.paxcounter: again = PacketSeeds.encoded(try Paxcount(decoding: bytes.rawSpan).encode)
            case Port.storeForward: again = PacketSeeds.encoded(try StoreAndForward(decoding: bytes.rawSpan).encode)
            case Port.nodeStatus: again = PacketSeeds.encoded(try StatusMessage(decoding: bytes.rawSpan).encode)
            default: continue
            }
            #expect(again == bytes, "port \(port)")
        }
    }

    @Test func `a radio's channel comes back with each of its switches`() throws {
        var channel = ChannelFrame()
        (channel.index, channel.name, channel.psk, channel.role) = (2, "Harbour", [1, 2], 1)
        for set in 0..<8 {
            (channel.isUplinkEnabled, channel.isDownlinkEnabled, channel.isAEAD) = (set & 1 != 0, set & 2 != 0, set & 4 != 0)
            #expect(try ChannelFrame(decoding: PacketSeeds.encoded(channel.encode).rawSpan) == channel, "\(set)")
        }
        #expect(try ChannelFrame(decoding: PacketSeeds.encoded(ChannelFrame().encode).rawSpan) == ChannelFrame())
    }

    @Test func `a name that was cut in a character is repaired`() throws {
        let bytes: [UInt8] = PacketSeeds.encoded { $0.bytes(3, [0x41, 0xe0]) }
        #expect(try User(decoding: bytes.rawSpan).shortName == "A\u{fffd}")
        var message = Sample()
        (message.port, message.payload) = (Port.nodeInfo, bytes)
        #expect(decoded(message.clear).packet.isReadable)
        #expect(decoded(try message.encrypted(Keyring.standard.channels[0])).packet.opening == .channelKey)
    }

    @Test func `telemetry gives its kind and the place of its metrics`() throws {
        let bytes = PacketSeeds.encoded { writer in
            Telemetry.encode(time: 12, kind: .power, to: &writer) { $0.float(1, .nan) }
        }
        let telemetry = try Telemetry(decoding: bytes.rawSpan)
        #expect(telemetry.time == 12 && telemetry.kind == .power && telemetry.metrics.count == 5)
    }

    @Test func `a body of fields 2 to 31 is one of metrics, and the last one counts`() throws {
        for (number, kind) in [(1, 0), (2, 2), (3, 3), (31, 31), (32, 0)] as [(UInt32, UInt8)] {
            let bytes = PacketSeeds.encoded { $0.bytes(number, [8, 1]) }
            let telemetry = try Telemetry(decoding: bytes.rawSpan)
            #expect(telemetry.rawKind == kind && telemetry.metrics.count == (kind == 0 ? 0 : 2), "\(number)")
        }
    }

    @Test func `a position has presence for what 0 would mean`() throws {
        let empty = try Position(decoding: [UInt8]().rawSpan)
        #expect(empty.latitudeE7 == nil && empty.altitude == nil)
        var zero = Position()
        (zero.latitudeE7, zero.longitudeE7) = (0, 0)
        #expect(try Position(decoding: PacketSeeds.encoded(zero.encode).rawSpan) == zero)
    }
}
