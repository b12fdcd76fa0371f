import Meshtastic
import ProtobufWire
import TestKit
import Testing

@Suite struct AcceptanceTests {
    /// Ports whose rows people would see.
    private let visible: Set<UInt32> = [Port.text, Port.position, Port.nodeInfo, Port.telemetry]

    @Test func `D5: of 100,000 random payloads none is accepted as text, position, node info or telemetry`() throws {
        var generator = SeededGenerator(seed: 20_260)
        var ring = Keyring.standard
        for index in 0..<8 { ring.add(try ChannelKey(name: "LongFast", psk: generator.bytes(index % 2 == 0 ? 16 : 32))) }
        let opener = PacketOpener(keyring: ring)
        var batch = PacketBatch()
        var message = Sample()
        var accepted = 0
        for _ in 0..<100_000 {
            message.id = UInt32(truncatingIfNeeded: generator.next())
            let sealed = generator.bytes(Int.random(in: 1...80, using: &generator))
            let bytes = message.packet(channel: UInt32.random(in: 0...255, using: &generator)) { $0.bytes(5, sealed) }
            batch.removeAll()
            opener.decode(bytes.rawSpan, form: .meshPacket, into: &batch)
            let packet = batch.packets[0]
            if packet.opening.isReadable {
                accepted += 1
                #expect(!visible.contains(packet.port), "\(sealed)")
            }
            if packet.opening == .opaque, batch.payload(of: packet).asArray != sealed { Issue.record("the ciphertext is lost") }
        }
        #expect(accepted <= 2, "\(accepted) were accepted on other ports")
    }

    @Test func `short random payloads are not taken for a bare port`() {
        let opener = PacketOpener(keyring: .standard)
        var batch = PacketBatch()
        for first in UInt8.min...UInt8.max {
            for second in stride(from: UInt8(0), through: 250, by: 5) {
                batch.removeAll()
                let bytes = Sample().packet(channel: 8) { $0.bytes(5, [first, second]) }
                opener.decode(bytes.rawSpan, form: .meshPacket, into: &batch)
                if batch.packets[0].opening != .opaque { Issue.record("accepted \(first) \(second)") }
            }
        }
    }

    @Test func `content of four bytes opens under its key, and of fewer nobody believes it`() throws {
        let channel = Keyring.standard.channels[0]
        func opening(_ content: [UInt8]) throws -> Opening {
            let sample = Sample()
            let sealed = try TestCipher.encrypt(content, key: channel.key, id: sample.id, from: sample.from)
            return decoded(sample.packet(channel: UInt32(channel.hash)) { $0.bytes(5, sealed) }).packet.opening
        }
        // The text port with an empty payload, and ports of one and two bytes without one.
        #expect(try opening([0x08, 0x01, 0x12, 0x00]) == .channelKey)
        #expect(try opening([0x08, 0x01, 0x12, 0x01, 0x61]) == .channelKey)
        #expect(try opening([0x08, 0x81, 0x02]) == .opaque)
        #expect(try opening([0x08, 0x01]) == .opaque)
        #expect(try opening([0x08]) == .opaque)
        #expect(try opening([0x07, 0x01, 0x12, 0x00]) == .opaque && opening([0x09, 0x01, 0x12, 0x00]) == .opaque)
    }

    @Test func `the key of another channel with the same hash is not accepted, and the right one is found`() throws {
        var generator = SeededGenerator(seed: 3)
        var ring = Keyring()
        var sameHash: [ChannelKey] = []
        while sameHash.count < 5 {
            let channel = try ChannelKey(name: "n\(sameHash.count)", psk: generator.bytes(16))
            guard channel.hash == 8 else { continue }
            sameHash.append(channel)
            ring.add(channel)
        }
        for (index, channel) in sameHash.enumerated() {
            for name in ["n\(index)", "n0", "else"] {
                let result = decoded(Sample.envelope(try Sample().encrypted(channel), channel: name), .serviceEnvelope, ring)
                #expect(result.packet.opening == .channelKey && Int(result.packet.keyIndex) == index)
                #expect(result.payload == Array("hello".utf8))
            }
        }
    }

    @Test func `a known key opens a channel whose name is unknown`() throws {
        let channel = try ChannelKey(name: "Somewhere", base64: "AQ==")
        let result = decoded(try Sample().encrypted(channel))
        #expect(result.packet.opening == .channelKey && result.packet.flags.contains(.isUnknownChannelName))
        #expect(!decoded(try Sample().encrypted(Keyring.standard.channels[0])).packet.flags.contains(.isUnknownChannelName))
    }

    @Test func `bytes in clear that are marked encrypted are read`() throws {
        let open = try ChannelKey(name: "open", psk: [])
        #expect(decoded(try Sample().encrypted(open)).packet.opening == .plaintext)
        let known = decoded(try Sample().encrypted(open), .meshPacket, Keyring(channels: [open]))
        #expect(known.packet.opening == .plaintext && known.packet.keyIndex == 0 && known.payload == Array("hello".utf8))
    }

    @Test func `a text that is not UTF-8 opens no channel, and in clear it is kept with its failure`() throws {
        var message = Sample()
        message.payload = [0x48, 0xff, 0x49]
        #expect(decoded(try message.encrypted(Keyring.standard.channels[0])).packet.opening == .opaque)
        let clear = decoded(message.clear)
        #expect(clear.packet.opening == .decoded && clear.packet.port == 1 && clear.payload == message.payload)
        #expect(clear.packet.failure == DecodeFailure(.malformedPayload, .invalidUTF8, port: 1, offset: 0))
        #expect(clear.batch.string(clear.packet.payload) == "H\u{fffd}I")
    }
}
