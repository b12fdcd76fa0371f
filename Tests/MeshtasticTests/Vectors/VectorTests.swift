import MeshCrypto
import Meshtastic
import ProtobufWire
import TestKit
import Testing

@Suite struct VectorTests {
    @Test func `shared keys expand as in the firmware`() throws {
        for sample in try MeshtasticVectors.cases(\.key_expansion) {
            #expect(try ChannelKey(name: "x", psk: .init(hex: sample.psk_hex)).key == .init(hex: sample.key_hex))
        }
    }

    @Test func `channel hashes are the published ones`() throws {
        for sample in try MeshtasticVectors.cases(\.channel_hash) {
            #expect(try ChannelKey(name: sample.name, base64: sample.psk_b64).hash == sample.hash)
        }
    }

    @Test func `direct messages open with the receiver's key and with the sender's own`() throws {
        for sample in try MeshtasticVectors.cases(\.pki_dm) {
            let to: UInt32 = 0x7a6d_648c
            var message = Sample()
            (message.from, message.to, message.id) = (sample.from, to, sample.id)
            let bytes = message.packet { $0.bytes(5, .init(hex: sample.encrypted_hex)) }
            let plain = [UInt8](hex: sample.plaintext_hex)
            let ring = Keyring(privateKeys: [try PrivateKey(node: to, key: .init(hex: sample.receiver_private_hex))])
            let opened = decoded(bytes, .meshPacket, ring, publicKeys: [sample.from: .init(hex: sample.sender_public_hex)])
            #expect(opened.packet.opening == .privateKey)
            if plain[0] == 8 {
                #expect(opened.packet.port == UInt32(plain[1]) && opened.packet.failure == nil)
            } else {
                #expect(opened.packet.failure?.kind == .malformedData, "the sample is random bytes")
            }
            #expect(decoded(bytes, .meshPacket, ring).packet.opening == .opaque)
            guard let own = sample.sender_private_hex, let peer = sample.receiver_public_hex else { continue }
            let sender = Keyring(privateKeys: [try PrivateKey(node: sample.from, key: .init(hex: own))])
            #expect(decoded(bytes, .meshPacket, sender, publicKeys: [to: .init(hex: peer)]).packet.opening == .privateKey)
        }
    }

    @Test func `a direct message opens once the sender's key is learned`() throws {
        let sample = try #require(try MeshtasticVectors.cases(\.pki_dm).first)
        var message = Sample()
        (message.from, message.to, message.id) = (sample.from, 0x7a6d_648c, sample.id)
        let bytes = message.packet { $0.bytes(5, .init(hex: sample.encrypted_hex)) }
        let ring = Keyring(privateKeys: [try PrivateKey(node: message.to, key: .init(hex: sample.receiver_private_hex))])
        let opener = PacketOpener(keyring: ring)
        var batch = PacketBatch()
        opener.decode(bytes.rawSpan, form: .meshPacket, into: &batch)
        #expect(batch.packets[0].opening == .opaque)
        #expect(!opener.retryDirectMessage(at: 0, in: &batch))
        opener.learn(publicKey: .init(hex: sample.sender_public_hex), of: sample.from)
        let isOpen = opener.retryDirectMessage(at: 0, in: &batch)
        #expect(isOpen)
        #expect(batch.string(batch.packets[0].payload) == "test")
    }

    @Test func `a direct message opens with the key that came with it, where its sender had announced another one`() throws {
        let sample = try #require(try MeshtasticVectors.cases(\.pki_dm).first)
        var message = Sample()
        (message.from, message.to, message.id) = (sample.from, 0x7a6d_648c, sample.id)
        let bytes = message.packet {
            $0.bytes(5, .init(hex: sample.encrypted_hex))
            $0.bytes(16, .init(hex: sample.sender_public_hex))
        }
        let ring = Keyring(privateKeys: [try PrivateKey(node: message.to, key: .init(hex: sample.receiver_private_hex))])
        #expect(
            decoded(bytes, .meshPacket, ring, publicKeys: [sample.from: [UInt8](repeating: 9, count: 32)]).packet.opening
                == .privateKey)
    }

    /// Numbers below 4 are no node's.
    @Test(arguments: [1, 2, 3, NodeID.broadcast] as [UInt32])
    func `what is for no node is no direct message, also once the sender's key is learned`(to: UInt32) throws {
        let sample = try #require(try MeshtasticVectors.cases(\.pki_dm).first)
        var message = Sample()
        (message.from, message.to, message.id) = (sample.from, to, sample.id)
        let bytes = message.packet { $0.bytes(5, .init(hex: sample.encrypted_hex)) }
        let opener = PacketOpener(
            keyring: Keyring(privateKeys: [try PrivateKey(node: to, key: .init(hex: sample.receiver_private_hex))]))
        var batch = PacketBatch()
        opener.decode(bytes.rawSpan, form: .meshPacket, into: &batch)
        opener.learn(publicKey: .init(hex: sample.sender_public_hex), of: sample.from)
        let isOpen = opener.retryDirectMessage(at: 0, in: &batch)
        #expect(!isOpen && batch.packets[0].opening == .opaque)
    }

    @Test func `signatures of broadcasts verify`() throws {
        for sample in try MeshtasticVectors.cases(\.xeddsa_2_8) {
            guard let from = sample.from, let id = sample.id, let port = sample.portnum, let payload = sample.payload_hex else {
                continue
            }
            let bytes = [UInt8](hex: payload)
            var message = Sample()
            (message.from, message.id) = (from, id)
            let packet = message.packet { writer in
                writer.message(4) { data in
                    data.uint32(1, port)
                    data.bytes(2, bytes)
                    data.bytes(10, .init(hex: sample.signature_hex))
                }
            }
            let result = decoded(packet)
            #expect(result.packet.flags.contains(.hasSignature))
            let signed = PacketSignature.signedBytes(of: result.packet, payload: bytes, .payloadOnly)
            #expect(signed == .init(hex: sample.signed_bytes_hex))
            let form = PacketSignature.validForm(
                of: result.packet, in: result.batch, publicKey: .init(hex: sample.x25519_public_hex))
            #expect(form == .payloadOnly)
            let other = [UInt8](repeating: 9, count: 32)
            #expect(PacketSignature.validForm(of: result.packet, in: result.batch, publicKey: other) == nil)
        }
    }

    @Test func `reduced precision rounds as the firmware does`() throws {
        for sample in try MeshtasticVectors.cases(\.position_precision) {
            #expect(Position.reduced(sample.in, bits: sample.p) == sample.out, "\(sample.in) \(sample.p)")
        }
    }

    @Test func `replayed state of 2-8 nodes is recognised by its id`() throws {
        for replay in try MeshtasticVectors.all().map(\.firmware_2_8_replay_id) {
            for sample in replay.cases {
                #expect(ReplayedState.id(node: sample.node, rxTime: sample.ts, kind: sample.kind) == sample.id)
            }
            #expect(decoded(.init(hex: replay.captured_replay_meshpacket_hex)).packet.isReplayedState)
            #expect(!decoded(.init(hex: replay.captured_live_meshpacket_hex)).packet.isReplayedState)
        }
    }

    @Test func `node numbers have the published text`() throws {
        for sample in try MeshtasticVectors.cases(\.node_num_2_8) {
            #expect(NodeID.text(sample.node_num) == sample.id && NodeID.parse(sample.id) == sample.node_num)
        }
    }

    /// Two frames that official decoders refuse only for broken UTF-8 in a name are read here, the name repaired.
    @Test(.enabled(if: SharedFolder.exists, "needs ../shared")) func `published packets decode as published`() throws {
        for sample in try MeshtasticVectors.all().compactMap(\.real_packets).flatMap(\.cases) {
            let form: CaptureForm =
                switch sample.kind {
                case "ServiceEnvelope": .serviceEnvelope
                case "FromRadio": .fromRadio
                default: .meshPacket
                }
            var ring = Keyring.standard
            if sample.how == "given", let key = sample.key_hex { ring.add(try ChannelKey(name: "given", psk: .init(hex: key))) }
            let (packet, payload, batch) = decoded(.init(base64: sample.raw_b64), form, ring)
            guard sample.parses else {
                let isRepaired = sample.name.contains("bad_utf8")
                #expect(isRepaired ? packet.fromRadio == 4 : packet.opening == .invalid, "\(sample.name)")
                continue
            }
            if form == .fromRadio {
                #expect(packet.opening == .none && packet.fromRadio == (sample.variant == "config" ? 5 : 9))
                continue
            }
            #expect(packet.from == sample.from && packet.to == sample.to && packet.id == sample.id, "\(sample.name)")
            #expect(packet.channel == sample.channel && packet.rxTime == sample.rx_time, "\(sample.name)")
            #expect(packet.hopStart == UInt8(sample.hop_start ?? 0) && packet.hopLimit == UInt8(sample.hop_limit ?? 0))
            if let gateway = sample.gateway_id { #expect(packet.gateway == NodeID.parse(gateway)) }
            if let channel = sample.channel_id { #expect(batch.string(packet.channelID) == channel) }
            let opening: Opening =
                switch sample.how {
                case "decoded": .decoded
                case "encrypted": .opaque
                default: .channelKey
                }
            #expect(packet.opening == opening && packet.failure == nil, "\(sample.name) \(packet.opening)")
            guard let hex = sample.payload_hex else { continue }
            #expect(packet.port == sample.portnum && payload == .init(hex: hex), "\(sample.name)")
            if let text = sample.text { #expect(batch.string(packet.payload) == text) }
        }
    }
}
