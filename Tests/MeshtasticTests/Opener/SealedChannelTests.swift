import Foundation
import Meshtastic
import ProtobufWire
import TestKit
import Testing

/// Channels with authenticated encryption.
@Suite struct SealedChannelTests {
    private func packet(_ sample: Firmware281.Sealed, hash: UInt8? = nil) -> [UInt8] {
        var message = Sample()
        (message.from, message.to, message.id) = (sample.from, sample.to, sample.id)
        return message.packet(channel: UInt32(hash ?? sample.channel_hash)) {
            $0.bytes(5, .init(hex: sample.ciphertext_with_tag_hex))
        }
    }

    private func channel(_ sample: Firmware281.Sealed, isAEAD: Bool = true) throws -> ChannelKey {
        try ChannelKey(name: sample.channel_name, psk: .init(hex: sample.psk_hex), isAEAD: isAEAD)
    }

    private func data(_ bytes: [UInt8]) throws -> (port: UInt32, payload: [UInt8]) {
        var (port, payload): (UInt32, [UInt8]) = (0, [])
        var reader = WireReader(bytes.rawSpan)
        while let field = try reader.next() {
            if field.number == 1 { port = field.asUInt32 }
            if field.number == 2 { payload = reader.bytes(field).asArray }
        }
        return (port, payload)
    }

    /// Nil where they are not there.
    private func vectors(_ file: URL) throws -> Firmware281? {
        if file != Firmware281.ours, SharedFolder.isMissing(for: "the published vectors of authenticated encryption") {
            return nil
        }
        return try Firmware281.load(file)
    }

    @Test(arguments: Firmware281.files)
    func `D5: each packet of a channel with authenticated encryption opens under its key, and what is no content says so`(
        _ file: URL
    ) throws {
        for sample in try vectors(file)?.accept ?? [] {
            let key = try channel(sample)
            #expect(key.hash == sample.channel_hash, "\(sample.name)")
            #expect(try channel(sample, isAEAD: false).hash == sample.ctr_channel_hash)
            let (packet, payload, _) = decoded(packet(sample), .meshPacket, Keyring.standard.adding(key))
            #expect(packet.opening == .channelKey && Int(packet.keyIndex) == Keyring.standard.channels.count, "\(sample.name)")
            let plain = [UInt8](hex: try #require(sample.plaintext_hex))
            if plain.first == 8 {
                let content = try data(plain)
                #expect(packet.port == content.port && payload == content.payload && packet.failure == nil, "\(sample.name)")
                #expect(!packet.flags.contains(.isDamaged))
            } else {
                #expect(packet.failure?.kind == .malformedData && !packet.isReadable, "\(sample.name)")
            }
        }
    }

    @Test(arguments: Firmware281.files)
    func `D5: a packet whose tag does not fit is refused as exactly that, also where the same key is known without tags`(
        _ file: URL
    ) throws {
        guard let samples = try vectors(file)?.refuse else { return }
        #expect(samples.count >= 18)
        for sample in samples {
            let sealed = Keyring.standard.adding(try channel(sample))
            for ring in [sealed, sealed.adding(try channel(sample, isAEAD: false))] {
                let (packet, payload, _) = decoded(packet(sample), .meshPacket, ring)
                #expect(
                    packet.opening == .badTag && packet.failure == DecodeFailure(.badTag), "\(sample.name): \(packet.opening)")
                #expect(payload == .init(hex: sample.ciphertext_with_tag_hex) && !packet.isReadable && packet.port == 0)
            }
            #expect(decoded(packet(sample)).packet.opening != .badTag, "no such channel is known")
        }
    }

    @Test func `a packet with a tag is nothing to a channel of the same name and key without, and the reverse`() throws {
        for sample in try Firmware281.load().accept where sample.plaintext_hex?.hasPrefix("08") == true {
            let plainKey = try channel(sample, isAEAD: false)
            let ring = Keyring(channels: [plainKey])
            #expect(decoded(packet(sample), .meshPacket, ring).packet.opening == .opaque)
            #expect(decoded(packet(sample, hash: plainKey.hash), .meshPacket, ring).packet.opening == .opaque)
            var message = Sample()
            (message.from, message.id) = (sample.from, sample.id)
            let counted = try message.encrypted(plainKey)
            #expect(decoded(counted, .meshPacket, Keyring(channels: [try channel(sample)])).packet.opening == .opaque)
            #expect(decoded(counted, .meshPacket, ring.adding(try channel(sample))).packet.opening == .channelKey)
        }
    }

    @Test func `of two channels with one hash the second opens what the first refuses, whichever has tags`() throws {
        var generator = SeededGenerator(seed: 12)
        let sample = try #require(
            try Firmware281.load().accept.first { $0.plaintext_hex?.hasPrefix("08") == true && $0.channel_hash != 0 })
        let sealed = try channel(sample)
        var other = try ChannelKey(name: "x", psk: generator.bytes(16))
        while other.hash != sealed.hash { other = try ChannelKey(name: "x", psk: generator.bytes(16)) }
        for ring in [Keyring(channels: [sealed, other]), Keyring(channels: [other, sealed])] {
            #expect(decoded(packet(sample), .meshPacket, ring).packet.opening == .channelKey)
            #expect(decoded(try Sample().encrypted(other), .meshPacket, ring).payload == Array("hello".utf8))
        }
    }

    @Test func `with the hash 0 a direct message is tried first, then the channel, and what neither opens is opaque`() throws {
        let sample = try #require(try Firmware281.load().accept.first { $0.channel_hash == 0 })
        var generator = SeededGenerator(seed: 4)
        var ring = Keyring(channels: [try channel(sample)])
        ring.add(try PrivateKey(node: sample.to, key: generator.bytes(32)))
        #expect(decoded(packet(sample), .meshPacket, ring).packet.opening == .channelKey)
        var other = sample
        other.id ^= 1
        #expect(decoded(packet(other), .meshPacket, ring).packet.opening == .opaque)
        other.to = NodeID.broadcast
        #expect(decoded(packet(other), .meshPacket, ring).packet.opening == .badTag)
    }

    @Test func `a keyring tells channels with tags from those without, also when it is stored, and knows none without a key`()
        throws
    {
        let plain = Keyring(channels: [try ChannelKey(name: "a", psk: [1])])
        let sealed = Keyring(channels: [try ChannelKey(name: "a", psk: [1], isAEAD: true)])
        #expect(plain.fingerprint != sealed.fingerprint && plain != sealed)
        var both = plain.adding(sealed.channels[0])
        #expect(both.channels.count == 2 && both.channels[0].fingerprint == both.channels[1].fingerprint)
        let stored = try JSONEncoder().encode(both)
        #expect(try JSONDecoder().decode(Keyring.self, from: stored) == both)
        #expect(try !String(decoding: JSONEncoder().encode(plain), as: UTF8.self).contains("aead"))
        #expect(both.removeChannels(named: "a", isAEAD: true) == 1 && both == plain)
        #expect(try !ChannelKey(name: "a", psk: [0], isAEAD: true).isAEAD)
    }

    @Test func `a damaged envelope, frame or length of a packet with a tag never traps`() throws {
        var generator = SeededGenerator(seed: 5)
        let sample = try Firmware281.load().accept[0]
        let ring = Keyring(channels: [try channel(sample)])
        for count in [0, 1, 11, 12, 13, 300, 65_535, 65_536, 70_000] {
            let bytes = Sample().packet(channel: UInt32(sample.channel_hash)) { $0.bytes(5, generator.bytes(count)) }
            let opening = decoded(bytes, .meshPacket, ring).packet.opening
            #expect(opening == (count == 0 ? .empty : .badTag), "\(count)")
        }
    }
}
