import LMDB
import Projections
import ProtobufWire

extension ErasureSubject {
    /// The view whose baseline `events` reads.
    package static let index = "packets"

    /// The dropped events of the packet, as the index of events in a baseline has them; none for a node.
    /// - Parameter file: of the index's baseline.
    package func events(inIndex file: String) throws -> Set<UInt64> {
        guard case .packet(let packet) = self else { return [] }
        let baseline = try BaselineFile(file)
        defer { baseline.close() }
        var found: Set<UInt64> = []
        try baseline.forEach(Self.index) { (key, value) throws(StorageError) in
            found.formUnion(PacketBlock(number: UInt64(key.bigEndianUInt32(at: 0)), decoding: value)?.sequences(of: packet) ?? [])
        }
        return found
    }
}

extension PacketBlock {
    /// The block of a row without a node; one that cannot be read goes.
    static func left(_ erasure: NodeErasure, _ key: RawSpan, _ value: RawSpan) -> [UInt8]? {
        PacketBlock(number: UInt64(key.bigEndianUInt32(at: 0)), decoding: value)?.without(erasure.node).encoded()
    }

    /// The block of a row without a packet's events; one that cannot be read stays.
    static func left(_ erasure: PacketErasure, _ key: RawSpan, _ value: RawSpan) -> [UInt8]? {
        let number = UInt64(key.bigEndianUInt32(at: 0))
        guard erasure.events.contains(where: { PacketBlock.number(of: $0) == number }),
            let block = PacketBlock(number: number, decoding: value)
        else { return value.asArray }
        return block.without(erasure.events).encoded()
    }

    /// The block without the data of an erased node: its packets, what radios report about it, and, where mentions are erased as well, packets to it and those
    /// that it published. The events stay, as empty ones.
    func without(_ node: ErasedNode) -> PacketBlock {
        without { isOf(node, $0.kind, sender: $0.sender, $0.named, $0.gateway) }
    }

    /// A copy in which these events hold nothing.
    func without(_ sequences: Set<UInt64>) -> PacketBlock { without { sequences.contains($0.sequence) } }

    /// The events of a packet, by the 24 bits of its id that the index has; none of one without an id.
    func sequences(of packet: ErasedPacket) -> [UInt64] {
        guard packet.id != 0 else { return [] }
        let mark = PacketMark.of(id: packet.id)
        var found: [UInt64] = []
        for (offset, event) in events.enumerated() {
            let entry = entries[Int(event.entry)]
            guard entry.mark == mark, kinds[Int(entry.kind)].flags.contains(.hasPacket) else { continue }
            if let sender = packet.sender, nodes[Int(entry.sender)] != sender { continue }
            found.append(firstSequence + UInt64(skipped + offset))
        }
        return found
    }

    private struct Indexed {
        var sequence: UInt64
        var sender: UInt32
        var kind: PacketKind
        var named: [UInt32]
        var gateway: UInt32
    }

    private func without(_ isErased: (Indexed) -> Bool) -> PacketBlock {
        var left = PacketBlock(number: number, skipped: skipped, latestTime: latestTime)
        for (offset, event) in events.enumerated() {
            let entry = entries[Int(event.entry)]
            let kind = kinds[Int(entry.kind)]
            let named = self.named[Int(entry.firstNamed)..<Int(entry.firstNamed + entry.namedCount)].map { nodes[Int($0)] }
            let gateway = event.gateway == 0 ? 0 : nodes[Int(gateways[Int(event.gateway - 1)])]
            let sender = nodes[Int(entry.sender)]
            let sequence = firstSequence + UInt64(skipped + offset)
            if isErased(Indexed(sequence: sequence, sender: sender, kind: kind, named: named, gateway: gateway)) {
                let none = left.place(of: PacketKind.none)
                left.add(sender: 0, mark: PacketMark.of(id: 0), kind: none, named: [], gateway: 0, flags: [])
                continue
            }
            var copy = kind
            if kind.channel >= 0 { copy.channel = left.place(of: channels[Int(kind.channel)]) }
            let place = left.place(of: copy)
            left.add(sender: sender, mark: entry.mark, kind: place, named: named, gateway: gateway, flags: event.flags)
        }
        return left
    }

    private func isOf(_ node: ErasedNode, _ kind: PacketKind, sender: UInt32, _ named: [UInt32], _ gateway: UInt32) -> Bool {
        guard kind.flags.contains(.hasPacket) else { return named.contains(node.number) }
        if sender == node.number { return true }
        guard node.includesMentions else { return false }
        return gateway == node.number || kind.flags.contains(.hasAddressee) && named.first == node.number
    }
}
