internal import MeshCrypto
internal import Meshtastic
internal import ProtobufWire
internal import TestKit

/// Makes inputs: valid packets of every port in every form, most of them mutated; the n-th is the same for the same seed, whoever asks.
///
/// Either the payload is mutated before the packet is made around it, or the whole event after, or both, or (a quarter) nothing.
public struct InputMaker {
    private enum Shape: CaseIterable {
        case envelopeClear, envelopeEncrypted, packetClear, packetEncrypted, packetPlaintext, packetUnknownName, packetSealed
        case frameClear, frameEncrypted, frameOther, direct, json, jsonLine, line
    }

    /// Payloads of one port.
    private struct Seeds {
        var port: UInt32
        var payloads: [[UInt8]]
    }

    private let seed: UInt64
    private let seeds: [Seeds]
    private let ciphers: [(hash: UInt8, name: String, cipher: AESCTR)]
    private let directKey: [UInt8]
    /// A channel with authenticated encryption.
    private let vault: ChannelKey
    /// The keys to open the inputs with.
    let keyring: Keyring
    let publicKeys: [UInt32: [UInt8]]

    private static let sender: UInt32 = 0x1234_5678
    private static let receiver: UInt32 = 0x8765_4321

    public init(seed: UInt64) throws {
        self.seed = seed
        var generator = SeededGenerator(seed: seed)
        var keyring = Keyring.standard
        keyring.add(try ChannelKey(name: "Hike", psk: generator.bytes(32)))
        keyring.add(try ChannelKey(name: "Open", psk: []))
        vault = try ChannelKey(name: "Vault", psk: generator.bytes(16), isAEAD: true)
        keyring.add(vault)
        let own = generator.bytes(32)
        keyring.add(try PrivateKey(node: Self.receiver, key: own))
        let peer = try X25519.publicKey(of: generator.bytes(32))
        directKey = SHA256.hash(try X25519.sharedSecret(privateKey: own, publicKey: peer))
        self.keyring = keyring
        publicKeys = [Self.sender: peer]
        ciphers = try keyring.channels.filter { !$0.key.isEmpty && !$0.isAEAD }.map {
            ($0.hash, $0.name, try AESCTR(key: $0.key))
        }
        seeds = Self.ports.map { port in
            Seeds(port: port, payloads: (0..<40).map { _ in Self.payload(port: port, &generator) })
        }
    }

    /// Every port of the schema, and some that it does not have.
    private static let ports: [UInt32] =
        (FieldTable.standard.enumeration(named: "PortNum")?.values ?? []).map { UInt32(bitPattern: $0.number) }.filter { $0 > 0 }
        + [300, 600]

    private static func payload(port: UInt32, _ generator: inout SeededGenerator) -> [UInt8] {
        if Port.isText(port) { return Array(MessageMaker.text(&generator).utf8) }
        guard let name = FieldTable.messageName(ofPort: port), let message = FieldTable.standard.message(named: name) else {
            return generator.bytes(Int.random(in: 0...60, using: &generator))
        }
        return MessageMaker.make(message, &generator)
    }

    /// A packet in which the sender of all inputs tells its public key: direct messages can be opened from there on.
    var introduction: [UInt8] {
        var generator = SeededGenerator(seed: seed)
        var user = User()
        user.longName = "fuzz"
        user.publicKey = publicKeys[Self.sender] ?? []
        var payload = WireWriter()
        user.encode(to: &payload)
        return packet(Header(&generator), field: 4, Self.data(Port.nodeInfo, payload.bytes, &generator), channel: 0)
    }

    /// The n-th input.
    public func input(_ index: UInt64) -> FuzzInput {
        var generator = SeededGenerator(seed: seed &+ (index &+ 1) &* 0xd134_2543_de82_ef95)
        let kind = seeds[Int.random(in: 0..<seeds.count, using: &generator)]
        var payload = kind.payloads[Int.random(in: 0..<kind.payloads.count, using: &generator)]
        let other = seeds[Int.random(in: 0..<seeds.count, using: &generator)].payloads[0]
        let coins = generator.next()
        if coins & 1 == 0 { Mutator.mutate(&payload, other: other, &generator) }
        let shape = Shape.allCases[Int.random(in: 0..<Shape.allCases.count, using: &generator)]
        var input = event(shape, kind.port, payload, &generator)
        if coins & 2 == 0 { Mutator.mutate(&input.bytes, other: other, &generator) }
        return input
    }

    private func event(_ shape: Shape, _ port: UInt32, _ payload: [UInt8], _ generator: inout SeededGenerator) -> FuzzInput {
        let header = Header(&generator)
        let data = Self.data(port, payload, &generator)
        let channel = ciphers[Int.random(in: 0..<ciphers.count, using: &generator)]
        func encrypted(hash: UInt32) -> [UInt8] { packet(header, field: 5, header.encrypt(data, channel.cipher), channel: hash) }
        let clear = packet(header, field: 4, data, channel: 0)
        switch shape {
        case .envelopeClear: return FuzzInput(form: .serviceEnvelope, port: port, bytes: envelope(clear, "LongFast"))
        case .envelopeEncrypted:
            return FuzzInput(
                form: .serviceEnvelope, port: port, bytes: envelope(encrypted(hash: UInt32(channel.hash)), channel.name))
        case .packetClear: return FuzzInput(form: .meshPacket, port: port, bytes: clear)
        case .packetEncrypted: return FuzzInput(form: .meshPacket, port: port, bytes: encrypted(hash: UInt32(channel.hash)))
        case .packetPlaintext: return FuzzInput(form: .meshPacket, port: port, bytes: packet(header, field: 5, data, channel: 77))
        case .packetUnknownName:
            return FuzzInput(form: .meshPacket, port: port, bytes: encrypted(hash: UInt32(channel.hash ^ 0x55)))
        case .packetSealed: return FuzzInput(form: .meshPacket, port: port, bytes: packetOfVault(header, data))
        case .frameClear: return FuzzInput(form: .fromRadio, port: port, bytes: frame(2, clear))
        case .frameEncrypted:
            return FuzzInput(form: .fromRadio, port: port, bytes: frame(2, encrypted(hash: UInt32(channel.hash))))
        case .frameOther: return otherFrame(&generator)
        case .direct: return FuzzInput(form: .meshPacket, port: port, bytes: direct(header, data))
        case .json, .jsonLine: return json(clear, port, isLine: shape == .jsonLine, &generator)
        case .line: return FuzzInput(form: .unreadable, port: 0, bytes: payload)
        }
    }
}

extension InputMaker {
    /// The outer fields of a packet.
    private struct Header {
        var to: UInt32
        var id: UInt32
        var bits: UInt64

        init(_ generator: inout SeededGenerator) {
            bits = generator.next()
            to = bits & 7 == 0 ? InputMaker.receiver : .max
            id = UInt32(truncatingIfNeeded: generator.next())
        }

        func encrypt(_ data: [UInt8], _ cipher: AESCTR) -> [UInt8] {
            let block = [id, 0, InputMaker.sender, 0].flatMap(InputMaker.littleEndian)
            return (try? cipher.apply(iv: block, data)) ?? data  // an input is an input
        }
    }

    private static func littleEndian(_ number: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }

    private static func data(_ port: UInt32, _ payload: [UInt8], _ generator: inout SeededGenerator) -> [UInt8] {
        var writer = WireWriter(capacity: payload.count + 20)
        writer.varint(1, UInt64(port))
        writer.bytes(2, payload)
        let bits = generator.next()
        if bits & 1 == 0 { writer.bool(3, true) }
        if bits & 2 == 0 { writer.fixed32(6, UInt32(truncatingIfNeeded: bits >> 8)) }
        if bits & 12 == 0 { writer.fixed32(8, 1) }
        if bits & 16 == 0 { writer.varint(9, 1) }
        return writer.bytes
    }

    private func packet(_ header: Header, field: UInt32, _ body: [UInt8], channel: UInt32) -> [UInt8] {
        var writer = WireWriter(capacity: body.count + 64)
        writer.fixed32(1, Self.sender)
        writer.fixed32(2, header.to)
        if channel != 0 { writer.uint32(3, channel) }
        writer.bytes(field, body)
        writer.fixed32(6, header.id)
        if header.bits & 8 == 0 { writer.fixed32(7, 1_750_000_000) }
        if header.bits & 16 == 0 { writer.float(8, -7.25) }
        writer.uint32(9, UInt32(header.bits >> 8 & 7))
        if header.bits & 32 == 0 { writer.uint32(11, 10) }
        if header.bits & 64 == 0 { writer.int32(12, -90) }
        writer.uint32(15, 7)
        return writer.bytes
    }

    private func envelope(_ packet: [UInt8], _ channel: String) -> [UInt8] {
        var writer = WireWriter(capacity: packet.count + 40)
        writer.bytes(1, packet)
        writer.string(2, channel)
        writer.string(3, "!36072603")
        return writer.bytes
    }

    private func frame(_ variant: UInt32, _ body: [UInt8]) -> [UInt8] {
        var writer = WireWriter(capacity: body.count + 8)
        writer.varint(1, 5)
        writer.bytes(variant, body)
        return writer.bytes
    }

    private func otherFrame(_ generator: inout SeededGenerator) -> FuzzInput {
        guard let message = FieldTable.standard.message(named: "FromRadio") else {
            return FuzzInput(form: .fromRadio, port: 0, bytes: [])
        }
        return FuzzInput(form: .fromRadio, port: 0, bytes: MessageMaker.make(message, &generator))
    }

    private func direct(_ header: Header, _ data: [UInt8]) -> [UInt8] {
        var direct = header
        direct.to = Self.receiver
        let extra: [UInt8] = [1, 2, 3, 4]
        let nonce = Self.littleEndian(header.id) + extra + Self.littleEndian(Self.sender) + [0]
        let sealed = try? AESCCM.seal(key: directKey, nonce: nonce, plaintext: data)  // an input is an input
        return packet(direct, field: 5, (sealed.map { $0.ciphertext + $0.tag } ?? data) + extra, channel: 0)
    }

    private func packetOfVault(_ header: Header, _ data: [UInt8]) -> [UInt8] {
        let sender = Self.littleEndian(Self.sender)
        let sealed = try? AESCCM.seal(  // an input is an input
            key: vault.key, nonce: Self.littleEndian(header.id) + [0, 0, 0, 0] + sender + [0], plaintext: data,
            associated: sender + Self.littleEndian(header.to), tagLength: 12)
        return packet(header, field: 5, sealed.map { $0.ciphertext + $0.tag } ?? data, channel: UInt32(vault.hash))
    }

    private func json(_ packet: [UInt8], _ port: UInt32, isLine: Bool, _ generator: inout SeededGenerator) -> FuzzInput {
        var batch = PacketBatch()
        PacketOpener(keyring: Keyring()).decode(packet.rawSpan, form: .meshPacket, into: &batch)
        let text =
            batch.packets.first.flatMap { JSONForm.text(of: $0, in: batch) } ?? Self.jsonSamples.randomElement(using: &generator)
            ?? ""
        let line = JSONValue.object([.init("topic", .string("msh/2/json/LongFast/!36072603")), .init("payload", .string(text))])
        return FuzzInput(form: .mqttJSON, port: port, bytes: Array((isLine ? line.description : text).utf8))
    }

    private static let jsonSamples = [
        #"{"from":1,"id":2,"payload":{"gpio_value":5,"gpio_mask":3},"sender":"!00000001","to":-1,"type":"gpios_read_reply"}"#,
        #"{"channel":0,"from":420634624,"id":741000001,"payload":1234,"sender":"!19125c00","timestamp":1700000000,"to":4294967295,"type":"text"}"#,
        #"{"from":1,"to":5,"payload":{"neighbors":[{"node_id":6,"snr":-3}]},"hops_away":1}"#,
        #"{"from":1,"type":""}"#,
    ]
}
