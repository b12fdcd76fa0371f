import MeshCrypto
public import Meshtastic
import ProtobufWire

/// One reception of a simulated packet, as a gateway publishes it.
public struct SimulatedReception: Sendable {
    /// A ServiceEnvelope, or what is left of one.
    public var envelope: [UInt8]
    /// Seconds since 1970 when the gateway heard it.
    public var time: UInt32
    public var topic: String
}

/// What was simulated so far, to compare with what a decoder finds.
public struct SimulationTruth: Sendable, Equatable {
    public var packets = 0
    public var receptions = 0
    public var encryptedPackets = 0
    /// Packets on the channel whose key nobody has.
    public var foreignPackets = 0
    public var damagedReceptions = 0
    /// Undamaged packets by port, each counted once.
    public var packetsByPort: [UInt32: Int] = [:]
}

/// A believable mesh, made up from a seed: nodes that move, measure and chat, and gateways that hear the same packets.
///
/// ```swift
/// var mesh = MeshSimulation(SimulationOptions(seed: 1, nodes: 40))
/// for _ in 0..<1_000 { store(mesh.next().envelope) }
/// ```
/// It never ends. Its channels are LongFast and MediumFast under the default key, `Harbour` under the bytes 00 to 1f, and one whose
/// key is not known to anybody.
public struct MeshSimulation: Sendable {
    public let options: SimulationOptions
    public private(set) var truth = SimulationTruth()

    /// The channel that a reader has to be given the key of.
    public static let harbour = Keyring(channels: channel("Harbour", psk: (0..<32).map { UInt8($0) }))

    private static func channel(_ name: String, psk: [UInt8]) -> [ChannelKey] {
        (try? [ChannelKey(name: name, psk: psk)]) ?? []  // 32 bytes always fit
    }

    struct Transmission {
        var from: UInt32
        var to: UInt32
        var id: UInt32
    }

    var random: SimulationRandom
    var nodes: [SimulatedNode] = []
    var content = SimulatedContent()
    var now: UInt32
    var lastText: Transmission?
    var lastDirect: Transmission?
    /// Who sends the answer that was composed, when not the node whose turn it was.
    var answers: UInt32?
    private var milliseconds: UInt64
    private var waiting: [SimulatedReception] = []
    private var data = WireWriter(capacity: 512)
    private var packet = WireWriter(capacity: 512)
    private let channels: [ChannelKey]
    private let ciphers: Ciphers

    /// Not shared: a copy of a simulation makes the same traffic with the same contexts, one after the other.
    private final class Ciphers: @unchecked Sendable {
        let all: [AESCTR?]

        init(_ channels: [ChannelKey]) { all = channels.map { try? AESCTR(key: $0.key) } }  // no key: no cipher
    }

    public init(_ options: SimulationOptions = SimulationOptions()) {
        self.options = options
        random = SimulationRandom(seed: options.seed)
        milliseconds = UInt64(options.startTime) * 1_000
        now = options.startTime
        var foreign = SimulationRandom(seed: ~options.seed)
        let secret = (0..<32).map { _ in UInt8(truncatingIfNeeded: foreign.next()) }
        channels =
            Keyring.standard.channels.filter { $0.name == "LongFast" || $0.name == "MediumFast" } + Self.harbour.channels
            + ((try? [ChannelKey(name: "Attic", psk: secret)]) ?? [])  // 32 bytes fit
        ciphers = Ciphers(channels)
        for index in 0..<options.nodes { nodes.append(SimulatedNode(&random, index: index)) }
    }

    /// The next reception.
    public mutating func next() -> SimulatedReception {
        while waiting.isEmpty { transmit() }
        truth.receptions += 1
        return waiting.removeLast()
    }

    // MARK: Sending

    private mutating func transmit() {
        milliseconds += UInt64(random.below(2 * options.intervalMilliseconds))
        now = UInt32(truncatingIfNeeded: milliseconds / 1_000)
        var sender = chooseSender()
        answers = nil
        compose(sender)
        if let answers, let index = nodes.firstIndex(where: { $0.number == answers }) { sender = index }
        nodes[sender].packetCount += 1
        let id = UInt32(truncatingIfNeeded: random.next()) & ~0x3ff | (nodes[sender].packetCount & 0x3ff)
        let sent = Transmission(from: nodes[sender].number, to: content.to, id: id)
        remember(sent)
        publish(sent, nodes[sender])
    }

    /// A few nodes are busy, most are quiet.
    private mutating func chooseSender() -> Int {
        let first = random.below(UInt32(nodes.count))
        return Int(random.chance(60) ? random.below(first + 1) : first)
    }

    private mutating func remember(_ sent: Transmission) {
        guard content.port == Port.text else { return }
        if content.to == NodeID.broadcast { lastText = sent } else { lastDirect = sent }
    }

    private mutating func publish(_ sent: Transmission, _ sender: SimulatedNode) {
        let channel = channels[sender.channel]
        let isMapReport = content.port == Port.mapReport
        let isEncrypted = !isMapReport && random.chance(options.encryptedPercent)
        data.removeAll(keepingCapacity: true)
        content.encode(to: &data)
        var cipherText: [UInt8] = []
        if isEncrypted { cipherText = encrypted(sent, sender.channel) }
        truth.packets += 1
        truth.packetsByPort[content.port, default: 0] += 1
        if isEncrypted { truth.encryptedPackets += 1 }
        if isEncrypted && sender.channel == 3 { truth.foreignPackets += 1 }
        let copies = isMapReport ? 1 : 1 + Int(random.below(UInt32(min(3, options.gateways))))
        let first = random.below(UInt32(options.gateways))
        for copy in 0..<copies {
            let gateway = nodes[(Int(first) + copy) % options.gateways].number
            hear(sent, sender, channel, isEncrypted ? cipherText : nil, gateway, delay: UInt32(copy))
        }
    }

    private mutating func encrypted(_ sent: Transmission, _ channel: Int) -> [UInt8] {
        var cipherText = [UInt8](repeating: 0, count: data.bytes.count)
        let iv = (UInt64(sent.id), UInt64(sent.from))
        let isDone = unsafe data.bytes.withUnsafeBytes { plain in
            unsafe cipherText.withUnsafeMutableBytes { target in
                unsafe ciphers.all[channel]?.apply(iv: iv, input: plain, output: target) ?? false
            }
        }
        return isDone ? cipherText : data.bytes
    }

    // MARK: Hearing

    private mutating func hear(
        _ sent: Transmission, _ sender: SimulatedNode, _ channel: ChannelKey, _ cipherText: [UInt8]?, _ gateway: UInt32,
        delay: UInt32
    ) {
        let isBad = random.below(1_000) < options.badPerMille
        let fault = isBad ? random.below(5) : .max
        if isBad { truth.damagedReceptions += 1 }
        let used = UInt8(random.below(UInt32(sender.hops) + 1))
        packet.removeAll(keepingCapacity: true)
        packet.fixed32(1, sent.from)
        packet.fixed32(2, sent.to)
        if let cipherText {
            packet.varint(3, UInt64(channel.hash))
            packet.bytes(5, cipherText)
        } else {
            packet.bytes(4, data.bytes)
        }
        packet.fixed32(6, sent.id)
        let heard = fault == 0 ? random.pick([0, 86_400, 2_650_000_000]) : now + delay
        if heard != 0 { packet.fixed32(7, heard) }
        packet.float(8, Float(random.between(-80, 48)) / 4)
        packet.varint(9, UInt64(fault == 1 ? 9 : sender.hops - used))
        packet.int32(12, random.between(-130, -20))
        packet.varint(15, UInt64(sender.hops))
        packet.varint(19, UInt64(1 + random.below(255)))
        var envelope = WireWriter(capacity: packet.bytes.count + 40)
        envelope.bytes(1, packet.bytes)
        envelope.string(2, channel.name)
        envelope.string(3, NodeID.text(gateway))
        var bytes = envelope.bytes
        if fault == 2 { bytes.removeLast(1 + Int(random.below(UInt32(bytes.count - 1)))) }
        if fault == 3 { for index in bytes.indices.dropFirst(4) { bytes[index] = UInt8(truncatingIfNeeded: random.next()) } }
        if fault == 4 { bytes[Int(random.below(UInt32(bytes.count)))] ^= UInt8(1 + random.below(255)) }
        let isMap = content.port == Port.mapReport
        let topic = isMap ? "msh/EU_868/2/map/" : "msh/EU_868/2/e/\(channel.name)/\(NodeID.text(gateway))"
        waiting.insert(SimulatedReception(envelope: bytes, time: now + delay, topic: topic), at: 0)
    }
}
