import Projections

extension PacketBlock {
    /// The block without the data of an erased node: its packets, what radios report about it, and, where mentions are erased as well, packets to it and those
    /// that it published. The events stay, as empty ones.
    func without(_ node: ErasedNode) -> PacketBlock {
        var left = PacketBlock(number: number, skipped: skipped, latestTime: latestTime)
        for event in events {
            let entry = entries[Int(event.entry)]
            let kind = kinds[Int(entry.kind)]
            let named = self.named[Int(entry.firstNamed)..<Int(entry.firstNamed + entry.namedCount)].map { nodes[Int($0)] }
            let gateway = event.gateway == 0 ? 0 : nodes[Int(gateways[Int(event.gateway - 1)])]
            if isOf(node, kind, sender: nodes[Int(entry.sender)], named, gateway) {
                let none = left.place(of: PacketKind.none)
                left.add(sender: 0, mark: PacketMark.of(id: 0), kind: none, named: [], gateway: 0, flags: [])
                continue
            }
            var copy = kind
            if kind.channel >= 0 { copy.channel = left.place(of: channels[Int(kind.channel)]) }
            let place = left.place(of: copy)
            left.add(
                sender: nodes[Int(entry.sender)], mark: entry.mark, kind: place, named: named, gateway: gateway,
                flags: event.flags)
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
