import MeshCrypto
public import Meshtastic
import ProtobufWire

/// A believable mesh, generated from a seed: nodes that move, measure and chat, and gateways that hear the same packets.
///
/// ```swift
/// var mesh = MeshSimulation(SimulationOptions(seed: 1, nodes: 40))
/// for _ in 0..<1_000 { store(mesh.next().envelope) }
/// ```
/// It never ends. Its channels are LongFast and MediumFast under the default key, `Harbour` under the bytes 00 to 1f, and `Attic`, whose
/// key is unknown. Some of its packets and receptions are odd, as real ones are: broken or without a packet, from receivers and senders with wrong
/// clocks, with impossible places, names that are not UTF-8 and measurements that are not numbers.
public struct MeshSimulation: Sendable {
    /// As given, each number within its limits.
    public let options: SimulationOptions
    /// Counts what `next` has returned.
    public private(set) var truth = SimulationTruth()

    /// The channel whose key a reader has to add.
    public static let harbour = Keyring(channels: channel("Harbour", psk: (0..<32).map { UInt8($0) }))

    private static func channel(_ name: String, psk: [UInt8]) -> [ChannelKey] {
        (try? [ChannelKey(name: name, psk: psk)]) ?? []  // 32 bytes always fit
    }

    /// The channels that gateways have, by their local index.
    static let known = Keyring.standard.channels.filter { $0.name == "LongFast" || $0.name == "MediumFast" } + harbour.channels

    struct Transmission {
        var from: UInt32
        var to: UInt32
        var id: UInt32
    }

    var random: SimulationRandom
    var nodes: [SimulatedNode] = []
    var content = SimulatedContent()
    var now: UInt32
    /// Whether something is wrong with the content of the current packet.
    var isOdd = false
    var lastText: Transmission?
    var lastDirect: Transmission?
    /// The sender of the composed reply, if it is not the node whose turn it was.
    var answers: UInt32?
    var waiting: [SimulatedReception] = []
    var packet = WireWriter(capacity: 512)
    private var milliseconds: UInt64
    private var transmissions: UInt64 = 0
    private var data = WireWriter(capacity: 512)
    private let channels: [ChannelKey]
    private let ciphers: Ciphers

    /// Not shared: a copy of a simulation makes the same traffic with the same contexts, one after the other.
    private final class Ciphers: @unchecked Sendable {
        let all: [AESCTR?]

        init(_ channels: [ChannelKey]) { all = channels.map { try? AESCTR(key: $0.key) } }  // no key: no cipher
    }

    public init(_ options: SimulationOptions = SimulationOptions()) {
        let options = options.bounded
        self.options = options
        random = SimulationRandom(seed: options.seed)
        milliseconds = UInt64(options.startTime) * 1_000
        now = options.startTime
        var foreign = SimulationRandom(seed: ~options.seed)
        channels = Self.known + Self.channel("Attic", psk: (0..<32).map { _ in UInt8(truncatingIfNeeded: foreign.next()) })
        ciphers = Ciphers(channels)
        for index in 0..<options.nodes { nodes.append(SimulatedNode(&random, index: index)) }
    }

    /// The next reception.
    public mutating func next() -> SimulatedReception {
        while waiting.isEmpty { transmit() }
        let reception = waiting.removeLast()
        truth.count(reception.fact)
        return reception
    }

    // MARK: Sending

    private mutating func transmit() {
        milliseconds += UInt64(random.below(UInt32(clamping: 2 * UInt64(options.intervalMilliseconds))))
        now = UInt32(truncatingIfNeeded: milliseconds / 1_000)
        var sender = chooseSender()
        answers = nil
        isOdd = random.below(1_000) < options.badPerMille
        compose(sender)
        if let answers, let index = nodes.firstIndex(where: { $0.number == answers }) { sender = index }
        nodes[sender].packetCount += 1
        let id = UInt32(truncatingIfNeeded: random.next()) & ~0x3ff | (nodes[sender].packetCount & 0x3ff)
        // Map reports of a gateway have no id.
        let sent = Transmission(from: nodes[sender].number, to: content.to, id: content.port == Port.mapReport ? 0 : id)
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
        let isMapReport = content.port == Port.mapReport
        // The key of the foreign channel is unknown, so no gateway can publish its packets decoded; reports are on the first channel.
        let place = isMapReport ? 0 : sender.channel
        let isForeign = place >= Self.known.count
        let isEncrypted = !isMapReport && (isForeign || random.chance(options.encryptedPercent))
        data.removeAll(keepingCapacity: true)
        content.encode(to: &data)
        transmissions += 1
        var fact = SimulatedFact(
            transmission: transmissions, from: sent.from, port: content.port, isDirect: sent.to != NodeID.broadcast,
            row: content.row, channel: channels[place].name, channelIndex: UInt32(place), isEncrypted: isEncrypted)
        // Only a well-formed payload proves a key.
        fact.isReadable = !isForeign && !(isEncrypted && content.isBroken)
        let body = isEncrypted ? encrypted(sent, place) : data.bytes
        let copies = isMapReport ? 1 : 1 + Int(random.below(UInt32(min(3, options.gateways))))
        let first = random.below(UInt32(options.gateways))
        for copy in 0..<copies {
            let gateway = nodes[(Int(first) + copy) % options.gateways].number
            hear(sent, sender, channels[place], body, fact, Hearing(gateway: gateway, delay: UInt32(copy)))
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
}
