import FuzzKit
import Meshtastic
import ProtobufWire
import TestKit
import Testing

@Suite struct AcceptanceTests {
    @Test(arguments: [20_260, 1, 2, 3] as [UInt64])
    func `D5: of 100,000 random payloads none is accepted under a wrong key, whatever its hash`(seed: UInt64) throws {
        var payloads = try RandomPayloads(seed: seed)
        for _ in 0..<100_000 {
            let (packet, sealed, payload) = payloads.next()
            if !packet.opening.isReadable, payload != sealed { Issue.record("seed \(seed): the ciphertext is lost") }
        }
        #expect(payloads.accepted.isEmpty, "seed \(seed): \(payloads.accepted)")
    }

    @Test(arguments: [1, 2] as [UInt64])
    func `D5: random bytes open under the key of their hash less than once in ten million`(seed: UInt64) throws {
        let chances = try RandomPayloads.chances(seed: seed, tries: 200_000)
        #expect(chances.asWritten < 1e-7 && chances.damaged < 1e-7, "seed \(seed): \(chances)")
        #expect(chances.asWritten > 0 && chances.damaged > 0)
    }

    /// A packet under the channel's key, its content changed.
    private func sealed(_ data: [UInt8], _ channel: ChannelKey) throws -> [UInt8] {
        var message = Sample()
        message.port = 0
        let bytes = try TestCipher.encrypt(data, key: channel.key, id: message.id, from: message.from)
        return message.packet(channel: UInt32(channel.hash)) { $0.bytes(5, bytes) }
    }

    @Test func `D5: what official decoders take under the key of the packet's hash opens, marked as damaged`() throws {
        var position = WireWriter()
        position.fixed32(1, 480_000_000)
        position.fixed32(2, 90_000_000)
        let channel = Keyring.standard.channels[0]
        // Behind the payload's fields, and behind those of the content: fields of types and numbers that nobody writes.
        let odd: [[UInt8]] = [
            [0xc1, 0x01, 1, 2, 3, 4, 5, 6, 7, 8], [0xe8, 0x02, 5], [0x19, 1, 2, 3, 4, 5, 6, 7, 8], [0x98, 0x07, 1],
        ]
        for field in odd {
            // Content may have a field 24 of any type.
            for isInside in field[0] == 0xc1 ? [true] : [true, false] {
                var data = WireWriter()
                data.varint(1, UInt64(Port.position))
                data.bytes(2, position.bytes + (isInside ? field : []))
                let bytes = data.bytes + (isInside ? [] : field)
                let result = decoded(try sealed(bytes, channel))
                #expect(result.packet.opening == .channelKey && result.packet.failure == nil, "\(field) \(isInside)")
                #expect(result.packet.flags.contains(.isDamaged) && result.packet.port == Port.position)
                // Another name has another hash: there only what an encoder writes proves the key.
                let unknown = try ChannelKey(name: "some other place", psk: channel.psk)
                #expect(Keyring.standard.channels.allSatisfy { $0.hash != unknown.hash })
                #expect(decoded(try sealed(bytes, unknown)).packet.opening == .opaque)
            }
        }
        // Official decoders refuse these, too.
        for payload in [[0x0d, 1, 2], [0x0a, 9, 1]] as [[UInt8]] {
            var data = WireWriter()
            data.varint(1, UInt64(Port.position))
            data.bytes(2, payload)
            #expect(decoded(try sealed(data.bytes, channel)).packet.opening == .opaque)
        }
    }

    @Test func `D5: an admin message with a field above 63 opens, undamaged`() throws {
        for number in [64, 95, 97, 99, 102] as [UInt32] {
            var admin = WireWriter()
            admin.varint(number, 5)
            admin.bytes(101, [1, 2, 3, 4, 5, 6, 7, 8])
            var message = Sample()
            (message.port, message.payload) = (Port.admin, admin.bytes)
            for channel in [Keyring.standard.channels[0], try ChannelKey(name: "elsewhere", psk: [1])] {
                let packet = decoded(try message.encrypted(channel)).packet
                #expect(packet.opening == .channelKey && packet.failure == nil && !packet.flags.contains(.isDamaged), "\(number)")
            }
        }
    }

    @Test func `D5: an admin message with texts or other messages in it opens, undamaged`() throws {
        for number in [1, 32, 36, 63] as [UInt32] {
            var message = Sample()
            (message.port, message.payload) = (Port.admin, PacketSeeds.encoded { $0.bytes(number, Array("Harbour".utf8)) })
            for channel in [Keyring.standard.channels[0], try ChannelKey(name: "elsewhere", psk: [1])] {
                let packet = decoded(try message.encrypted(channel)).packet
                #expect(packet.opening == .channelKey && packet.failure == nil && !packet.flags.contains(.isDamaged), "\(number)")
            }
        }
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
