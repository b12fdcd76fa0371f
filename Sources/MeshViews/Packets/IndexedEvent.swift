import Meshtastic

/// What the index `packets` knows of an event.
public struct IndexedEvent: Sendable, Hashable {
    public var sequence: UInt64
    /// False where a radio reports about a node.
    public var hasPacket: Bool
    public var from: UInt32
    /// `NodeID.broadcast` for broadcasts, and for events without a destination.
    public var to: UInt32
    /// 0 if unknown.
    public var gateway: UInt32
    /// Empty if unknown.
    public var channel: String
    /// Nil where no key opens the packet.
    public var port: UInt32?
    /// The nodes that the payload names.
    public var named: [UInt32]
    public var isFirstReception: Bool
    /// A view with one row per packet has a row of this event: the first readable reception, or an earlier one that arrived later.
    public var isFirstReadable: Bool
    /// Exactly this reception is also an earlier event.
    public var isRepeat: Bool
}

extension PacketBlock {
    /// Visits what the block has of its events in a range, in their order, until `visitor` returns false.
    /// - Returns: whether it never did.
    package func forEachEvent(in range: ClosedRange<UInt64>, _ visitor: (IndexedEvent) throws -> Bool) rethrows -> Bool {
        for index in events.indices {
            let sequence = firstSequence + UInt64(skipped + index)
            guard range.contains(sequence), let event = IndexedEvent(self, index, sequence) else { continue }
            guard try visitor(event) else { return false }
        }
        return true
    }
}

extension IndexedEvent {
    fileprivate init?(_ block: PacketBlock, _ index: Int, _ sequence: UInt64) {
        let event = block.events[index]
        let entry = block.entries[Int(event.entry)]
        let kind = block.kinds[Int(entry.kind)]
        var named = block.named[Int(entry.firstNamed)..<Int(entry.firstNamed + entry.namedCount)].map { block.nodes[Int($0)] }
        guard !kind.flags.contains(.isBroken), kind.flags.contains(.hasPacket) || !named.isEmpty else { return nil }
        self.sequence = sequence
        hasPacket = kind.flags.contains(.hasPacket)
        from = block.nodes[Int(entry.sender)]
        to = kind.flags.contains(.hasAddressee) && !named.isEmpty ? named.removeFirst() : NodeID.broadcast
        gateway = event.gateway == 0 ? 0 : block.nodes[Int(block.gateways[Int(event.gateway - 1)])]
        channel = kind.channel < 0 ? "" : block.channels[Int(kind.channel)].title
        port = kind.flags.contains(.isReadable) ? kind.port : nil
        self.named = named
        isFirstReception = event.flags.contains(.isFirstReception)
        isFirstReadable = event.flags.contains(.makesRow)
        isRepeat = event.flags.contains(.isRepeat)
    }
}
