import ProtobufWire

/// Gathers the receptions of packets on the way from the newest event to the oldest.
struct PacketWalk {
    private struct Packet: Hashable {
        var sender: UInt32
        var mark: UInt32
    }

    private struct Group {
        /// The newest first.
        var sequences: [UInt64] = []
        var isWanted = false
    }

    private let selection: EventSelection
    private let range: ClosedRange<UInt64>
    private var open: [Packet: Group] = [:]

    init(_ selection: EventSelection, _ range: ClosedRange<UInt64>) {
        (self.selection, self.range) = (selection, range)
    }

    /// The wanted packets that begin in a block, the newest first, with their receptions, the oldest first.
    mutating func groups(in layout: PacketBlockLayout, _ block: UInt64, _ bytes: RawSpan) -> [[UInt64]] {
        let wanted = Set(layout.find(selection, block: block, in: range, bytes))
        let first = block * PacketBlock.eventCount + 1 + UInt64(layout.skipped)
        var entries = [Int](repeating: 0, count: layout.eventCount)
        layout.forEachEvent(in: bytes) { index, entry in entries[index] = entry }
        var groups: [[UInt64]] = []
        for index in entries.indices.reversed() where range.contains(first + UInt64(index)) && entries[index] < layout.entryCount
        {
            let entry = entries[index]
            let kind = layout.kindColumn.number(entry, in: bytes)
            guard kind < layout.kinds.count, layout.kinds[kind].flags.contains(.hasPacket),
                !layout.kinds[kind].flags.contains(.isBroken)
            else { continue }
            let sender = layout.node(min(layout.senders.number(entry, in: bytes), layout.nodeCount - 1), in: bytes)
            let packet = Packet(sender: sender, mark: layout.mark(entry, in: bytes))
            var group = open.removeValue(forKey: packet) ?? Group()
            let sequence = first + UInt64(index)
            group.sequences.append(sequence)
            group.isWanted = group.isWanted || wanted.contains(sequence)
            if layout.flags.number(index, in: bytes) & 1 == 1 {
                if group.isWanted { groups.append(group.sequences.reversed()) }
            } else {
                open[packet] = group
            }
        }
        return groups
    }

    /// Packets that begin before the range, in the order of their first receptions in it, the newest first.
    func rest() -> [[UInt64]] {
        open.values.filter(\.isWanted).map { $0.sequences.reversed() }.sorted { $0[0] > $1[0] }
    }
}

extension PacketBlockLayout {
    /// The channel of an event's packet; nil where it has none.
    func channel(ofEvent sequence: UInt64, block: UInt64, _ bytes: RawSpan) -> ChannelIdentity? {
        let place = Int(clamping: sequence) - Int(clamping: block * PacketBlock.eventCount + 1) - skipped
        var found: ChannelIdentity?
        forEachEvent(in: bytes) { index, entry in
            guard index == place, entry < entryCount else { return }
            let kind = kindColumn.number(entry, in: bytes)
            guard kind < kinds.count, kinds[kind].channel >= 0 else { return }
            found = channels[Int(kinds[kind].channel)]
        }
        return found
    }
}
