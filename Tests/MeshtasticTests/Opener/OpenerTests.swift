import Meshtastic
import ProtobufWire
import Testing

@Suite struct OpenerTests {
    @Test func `an envelope gives header, gateway and channel`() throws {
        let (packet, payload, batch) = decoded(Sample.envelope(Sample().clear), .serviceEnvelope)
        #expect(packet.from == 0x1234_5678 && packet.to == NodeID.broadcast && packet.id == 77 && packet.port == 1)
        #expect(packet.rxTime == 1_700_000_000 && packet.rxSNR == 6.25 && packet.rxRSSI == -90 && packet.hasRSSI)
        #expect(packet.hopLimit == 3 && packet.hopStart == 5 && packet.gateway == 0x1c5b_4a01)
        #expect(batch.string(packet.channelID) == "LongFast" && payload == Array("hello".utf8))
        #expect(packet.opening == .decoded && packet.isReadable)
    }

    @Test func `every event gives exactly one packet`() {
        let opener = PacketOpener(keyring: .standard)
        var batch = PacketBatch()
        let empty: [UInt8] = []
        for form in CaptureForm.allCases { opener.decode(empty.rawSpan, form: form, into: &batch) }
        opener.decode(empty.rawSpan, rawForm: 200, into: &batch)
        #expect(batch.packets.count == CaptureForm.allCases.count + 1)
        #expect(batch.packets[0].failure?.kind == .missingPacket)
        #expect(batch.packets[1].opening == .empty)
        #expect(batch.packets[2].opening == .none)
        #expect(batch.packets[3].failure?.kind == .malformedJSON)
        #expect(batch.packets.last?.failure?.kind == .unknownForm)
    }

    @Test func `broken bytes say what is broken and where`() {
        var cut = Sample.envelope(Sample().clear)
        cut.removeLast()
        #expect(decoded(cut, .serviceEnvelope).packet.failure?.kind == .malformedEnvelope)
        #expect(decoded([0x0d, 1], .meshPacket).packet.failure == DecodeFailure(.malformedPacket, .truncated, offset: 1))
        #expect(decoded([0x0d, 1, 0, 0, 0, 0x15, 1], .meshPacket).packet.from == 0)  // only the failure remains
        #expect(decoded([0x0a, 1, 0x0d], .serviceEnvelope).packet.failure?.kind == .malformedPacket)
        let data = Sample().packet { $0.bytes(4, [0x08]) }
        #expect(decoded(data).packet.failure?.kind == .malformedData)
        var position = Sample()
        (position.port, position.payload) = (Port.position, [0x0d, 1])
        let failure = decoded(position.clear).packet.failure
        #expect(failure == DecodeFailure(.malformedPayload, .truncated, port: 3, offset: 1))
        #expect(failure?.reason == "malformed payload of port 3: the bytes end inside a field at byte 1")
    }

    @Test func `hops are unknown where the sender is too old to say`() {
        var packet = DecodedPacket()
        packet.flags = .hasPacket
        (packet.opening, packet.port) = (.decoded, Port.text)
        (packet.hopStart, packet.hopLimit) = (5, 3)
        #expect(packet.hopsAway == 2)
        (packet.hopStart, packet.hopLimit) = (0, 0)
        #expect(packet.hopsAway == nil)
        packet.flags.insert(.hasBitfield)
        #expect(packet.hopsAway == 0)
        (packet.hopStart, packet.hopLimit) = (1, 3)
        #expect(packet.hopsAway == nil)
    }

    @Test func `frames of a radio that are no packets keep their variant and body`() {
        var user = User()
        user.longName = "Base"
        var node = NodeInfo()
        (node.number, node.user) = (42, user)
        var writer = WireWriter()
        writer.uint32(1, 9)
        writer.message(4) { node.encode(to: &$0) }
        let result = decoded(writer.bytes, .fromRadio)
        #expect(result.packet.fromRadio == 4 && result.packet.opening == .none && !result.packet.hasPacket)
        #expect((try? NodeInfo(decoding: result.payload.rawSpan)) == node)
        #expect(decoded(Sample.envelope(Sample().clear), .serviceEnvelope).packet.fromRadio == 0)
    }

    @Test func `a key opens what is of its channel, whatever the channel's hash is`() throws {
        var hashes: Set<UInt8> = []
        for byte in UInt8.min...UInt8.max {
            let channel = try ChannelKey(name: "Harbour", psk: [UInt8](repeating: 0, count: 15) + [byte])
            hashes.insert(channel.hash)
            let packet = try decoded(Sample().encrypted(channel), .meshPacket, Keyring(channels: [channel])).packet
            #expect(packet.opening == .channelKey && packet.keyIndex == 0, "hash \(channel.hash)")
            #expect(!packet.flags.contains(.isUnknownChannelName), "hash \(channel.hash)")
        }
        #expect(hashes.count == 256)
    }

    @Test func `a batch keeps each packet's bytes apart and is reusable`() {
        let opener = PacketOpener(keyring: .standard)
        var batch = PacketBatch()
        for round in 0..<3 {
            batch.removeAll()
            #expect(batch.packets.isEmpty && batch.arenaCount == 0 && batch.append(bytes: RawSpan()) == .empty)
            for index in 0..<500 {
                var message = Sample()
                message.payload = Array("text \(round) \(index)".utf8)
                opener.decode(message.clear.rawSpan, form: .meshPacket, into: &batch)
            }
            for (index, packet) in batch.packets.enumerated() {
                #expect(batch.string(packet.payload) == "text \(round) \(index)")
            }
        }
    }
}
