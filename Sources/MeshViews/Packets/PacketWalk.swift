import ProtobufWire

/// Collects the receptions of packets on the way from the newest event to the oldest.
package struct PacketWalk {
    private struct Packet: Hashable {
        var sender: UInt32
        var mark: UInt32
    }

    private struct Group {
        /// The newest first, without those that only repeat another.
        var sequences: [UInt64] = []
        var isWanted = false
        /// Another packet within the hour has the same sender and id.
        var hasTwin = false
    }

    /// A packet that begins at the walk's position.
    package struct Found {
        /// Its receptions, the oldest first.
        package var sequences: [UInt64]
        package var hasTwin: Bool
    }

    private let selection: EventSelection
    private let range: ClosedRange<UInt64>
    /// The packets whose beginnings have not been reached: among those with the same sender and part of the id the one that began last comes first.
    private var open: [Packet: [Group]] = [:]

    package init(_ selection: EventSelection, _ range: ClosedRange<UInt64>) {
        (self.selection, self.range) = (selection, range)
    }

    /// The wanted packets that begin in a block, the newest first, with their receptions, the oldest first.
    package mutating func groups(in layout: PacketBlockLayout, _ block: UInt64, _ bytes: RawSpan) -> [Found] {
        let wanted = Set(layout.find(selection, block: block, in: range, bytes))
        let first = block * PacketBlock.eventCount + 1 + UInt64(layout.skipped)
        var entries = [Int](repeating: 0, count: layout.eventCount)
        layout.forEachEvent(in: bytes) { index, entry in entries[index] = entry }
        var groups: [Found] = []
        for index in entries.indices.reversed() where range.contains(first + UInt64(index)) && entries[index] < layout.entryCount
        {
            let entry = entries[index]
            let kind = layout.kindColumn.number(entry, in: bytes)
            guard kind < layout.kinds.count, layout.kinds[kind].flags.contains(.hasPacket),
                !layout.kinds[kind].flags.contains(.isBroken)
            else { continue }
            let sender = layout.node(min(layout.senders.number(entry, in: bytes), layout.nodeCount - 1), in: bytes)
            let packet = Packet(sender: sender, mark: layout.mark(entry, in: bytes))
            let sequence = first + UInt64(index)
            let flags = layout.eventFlags(index, in: bytes)
            var twins = open.removeValue(forKey: packet) ?? []
            let place = flags.contains(.isFirstReception) ? 0 : Int(flags.laterTwins)
            while twins.count <= place { twins.append(Group()) }
            if !flags.contains(.isRepeat) { twins[place].sequences.append(sequence) }
            twins[place].isWanted = twins[place].isWanted || wanted.contains(sequence)
            if flags.contains(.isFirstReception) {
                let group = twins.removeFirst()
                let hasTwin = group.hasTwin || flags.contains(.hasTwin)
                if group.isWanted { groups.append(Found(sequences: group.sequences.reversed(), hasTwin: hasTwin)) }
                if flags.contains(.hasTwin) {
                    if twins.isEmpty { twins.append(Group()) }
                    twins[0].hasTwin = true
                }
            }
            if !twins.isEmpty { open[packet] = twins }
        }
        return groups
    }

    /// Packets that begin before the range, in the order of their first receptions in it, the newest first.
    package func rest() -> [Found] {
        open.values.joined().filter { $0.isWanted && !$0.sequences.isEmpty }
            .map { Found(sequences: $0.sequences.reversed(), hasTwin: $0.hasTwin) }.sorted { $0.sequences[0] > $1.sequences[0] }
    }
}

extension PacketBlockLayout {
    /// The channel of an event's packet; nil if it has none.
    package func channel(ofEvent sequence: UInt64, block: UInt64, _ bytes: RawSpan) -> ChannelIdentity? {
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
