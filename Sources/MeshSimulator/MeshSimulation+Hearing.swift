import Meshtastic
import ProtobufWire

/// The receiver of a packet, and how many seconds after it was sent the receiver heard it.
struct Hearing {
    var gateway: UInt32
    var delay: UInt32
}

extension MeshSimulation {
    /// The possible faults of one reception. The first three leave no packet.
    private enum Fault: UInt32, CaseIterable {
        case cutShort, noise, noPacket, wrongClock, wrongHops
    }

    /// Clocks that were never set, lost their battery, or run ahead.
    static let wrongClocks: [UInt32] = [0, 86_400, 2_660_000_000]

    mutating func hear(
        _ sent: Transmission, _ sender: SimulatedNode, _ channel: ChannelKey, _ body: [UInt8], _ fact: SimulatedFact,
        _ hearing: Hearing
    ) {
        let isBad = random.below(1_000) < options.badPerMille
        let fault = isBad ? Fault(rawValue: random.below(UInt32(Fault.allCases.count))) : nil
        let used = UInt8(random.below(UInt32(sender.hops) + 1))
        let isMapReport = fact.port == Port.mapReport
        packet.removeAll(keepingCapacity: true)
        packet.fixed32(1, sent.from)
        packet.fixed32(2, sent.to)
        let number = fact.isEncrypted ? UInt32(channel.hash) : fact.channelIndex
        if number != 0 { packet.varint(3, UInt64(number)) }
        packet.bytes(fact.isEncrypted ? 5 : 4, body)
        if sent.id != 0 { packet.fixed32(6, sent.id) }
        let heard = fault == .wrongClock ? random.pick(Self.wrongClocks) : now &+ hearing.delay
        if heard != 0, !isMapReport { packet.fixed32(7, heard) }
        packet.float(8, Float(random.between(-80, 48)) / 4)
        packet.varint(9, UInt64(fault == .wrongHops ? 9 : sender.hops - used))
        packet.int32(12, random.between(-130, -20))
        packet.varint(15, UInt64(sender.hops))
        packet.varint(19, UInt64(1 + random.below(255)))
        var envelope = WireWriter(capacity: packet.bytes.count + 40)
        if fault != .noPacket { envelope.bytes(1, packet.bytes) }
        let end = envelope.bytes.count
        envelope.string(2, channel.name)
        envelope.string(3, NodeID.text(hearing.gateway))
        var bytes = envelope.bytes
        if fault == .cutShort { bytes.removeLast(bytes.count - 1 - Int(random.below(UInt32(end - 1)))) }
        if fault == .noise { makeNoise(&bytes, from: end - packet.bytes.count) }
        var heardFact = fact
        heardFact.isDamaged = fault == .cutShort || fault == .noise || fault == .noPacket
        let topic = isMapReport ? "msh/EU_868/2/map/" : "msh/EU_868/2/e/\(channel.name)/\(NodeID.text(hearing.gateway))"
        waiting.insert(SimulatedReception(envelope: bytes, time: now &+ hearing.delay, topic: topic, fact: heardFact), at: 0)
    }

    /// Memory that was never written, after a wire type that does not exist.
    private mutating func makeNoise(_ bytes: inout [UInt8], from start: Int) {
        for index in bytes.indices.dropFirst(start) { bytes[index] = UInt8(truncatingIfNeeded: random.next()) }
        bytes[start] |= 7
    }
}
