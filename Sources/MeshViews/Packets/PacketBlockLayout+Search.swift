import ProtobufWire

extension PacketBlockLayout {
    /// The events that may match, as sequences within `range`, rising. Of a packet's id only a part is compared.
    package func find(
        _ wanted: EventSelection, block: UInt64, in range: ClosedRange<UInt64>, _ bytes: RawSpan
    ) -> [UInt64] {
        guard let search = BlockSearch(wanted, self, bytes) else { return [] }
        let first = block * PacketBlock.eventCount + 1 + UInt64(skipped)
        var found: [UInt64] = []
        forEachEvent(of: search.entries, in: bytes) { index, entry in
            let sequence = first + UInt64(index)
            if entry < entryCount, range.contains(sequence), search.fits(index, entry, self, bytes) { found.append(sequence) }
        }
        return found
    }

    /// What the packets of some events have in common with all their receptions.
    package func packetKeys(of events: Set<UInt64>, _ block: UInt64, in bytes: RawSpan) -> Set<UInt64> {
        let first = block * PacketBlock.eventCount + 1 + UInt64(skipped)
        var keys: Set<UInt64> = []
        guard nodeCount > 0 else { return keys }
        forEachEvent(in: bytes) { index, entry in
            if entry < entryCount, events.contains(first + UInt64(index)) { keys.insert(packetKey(entry, in: bytes)) }
        }
        return keys
    }

    package func hasPacket(of keys: Set<UInt64>, in bytes: RawSpan) -> Bool {
        nodeCount > 0 && (0..<entryCount).contains { keys.contains(packetKey($0, in: bytes)) }
    }

    @inline(__always)
    func packetKey(_ entry: Int, in bytes: RawSpan) -> UInt64 {
        let sender = node(min(senders.number(entry, in: bytes), nodeCount - 1), in: bytes)
        return PacketMark.key(sender, mark(entry, in: bytes))
    }

    /// The entries that a node has sent or that name it, rising.
    func entries(of node: Int, _ roles: EventSelection.Roles, in bytes: RawSpan) -> [Int] {
        var found: [Int] = []
        if roles.contains(.sender) {
            for entry in 0..<entryCount where senders.number(entry, in: bytes) == node {
                let kind = kindColumn.number(entry, in: bytes)
                guard kind < kinds.count, kinds[kind].flags.contains(.hasPacket) else { continue }
                found.append(entry)
            }
        }
        guard roles.contains(.addressee) || roles.contains(.named) else { return found }
        forEachNaming(in: bytes) { entry, places in
            let kind = kindColumn.number(entry, in: bytes)
            guard kind < kinds.count else { return }
            let hasAddressee = kinds[kind].flags.contains(.hasAddressee)
            for (index, place) in places.enumerated() where Int(place) == node {
                guard roles.contains(hasAddressee && index == 0 ? .addressee : .named) else { continue }
                found.append(entry)
            }
        }
        return found.sorted()
    }
}

/// A selection in the terms of one block.
private struct BlockSearch {
    /// The entries whose kind and id match, rising: other entries' events cannot match.
    private(set) var entries: [Int] = []
    /// By entry: bit 0, whether kind and id match; bit 1, whether the node is its sender or is named.
    private var fits: [UInt8]
    private let needsNode: Bool
    /// The gateway's index plus one; -1 for a gateway that the block does not have.
    private var gateway: Int?
    private var nodeAsGateway = -1
    private let onlyFirstReadable: Bool
    private let withoutRepeats: Bool

    /// Nil where the block has no match.
    init?(_ wanted: EventSelection, _ layout: PacketBlockLayout, _ bytes: RawSpan) {
        needsNode = wanted.node != nil
        onlyFirstReadable = wanted.onlyFirstReadable
        withoutRepeats = wanted.withoutRepeats
        var node: Int?
        if let number = wanted.node {
            guard let place = layout.place(of: number, in: bytes) else { return nil }
            node = place
            if wanted.roles.contains(.gateway) { nodeAsGateway = Self.gateway(place, layout, bytes) ?? -1 }
        }
        if let number = wanted.gateway {
            guard let place = layout.place(of: number, in: bytes), let found = Self.gateway(place, layout, bytes) else {
                return nil
            }
            gateway = found
        }
        let isLate = layout.latestTime.map { TimePolicy.later($0) >= wanted.rowsFrom } ?? true
        let kinds = layout.kinds.map { (isLate || $0.flags.contains(.keepsTime)) && Self.fits($0, wanted, layout) }
        guard kinds.contains(true) else { return nil }
        let mark = wanted.packetID.flatMap { $0 == 0 ? nil : PacketMark.of(id: $0) }  // those without one have many
        func isWanted(_ entry: Int) -> Bool {
            if let mark, layout.mark(entry, in: bytes) != mark { return false }
            let kind = layout.kindColumn.number(entry, in: bytes)
            return kind < kinds.count && kinds[kind]
        }
        fits = [UInt8](repeating: 0, count: layout.entryCount)
        // The more selective test comes first: few blocks have a packet's id.
        if let node, mark == nil, nodeAsGateway <= 0 {
            entries = layout.entries(of: node, wanted.roles, in: bytes).filter(isWanted)
            for entry in entries { fits[entry] = 3 }
            if entries.isEmpty { return nil }
        } else {
            entries = (0..<layout.entryCount).filter(isWanted)
            for entry in entries { fits[entry] = 1 }
            if entries.isEmpty { return nil }
            guard let node else { return }
            for entry in layout.entries(of: node, wanted.roles, in: bytes) { fits[entry] |= 2 }
        }
    }

    private static func gateway(_ place: Int, _ layout: PacketBlockLayout, _ bytes: RawSpan) -> Int? {
        for index in 0..<layout.gatewayCount where layout.gateways.number(index, in: bytes) == place { return index + 1 }
        return nil
    }

    private static func fits(_ kind: PacketKind, _ wanted: EventSelection, _ layout: PacketBlockLayout) -> Bool {
        if let port = wanted.port, kind.port != port || !kind.flags.contains(.isReadable) { return false }
        if let channel = wanted.channel {
            guard kind.channel >= 0, layout.channels[Int(kind.channel)].title == channel else { return false }
        }
        return wanted.packetID == nil || kind.flags.contains(.hasPacket)
    }

    @inline(__always)
    func fits(_ index: Int, _ entry: Int, _ layout: PacketBlockLayout, _ bytes: RawSpan) -> Bool {
        let known = fits[entry]
        guard known & 1 == 1 else { return false }
        if needsNode, known & 2 == 0 {
            guard nodeAsGateway > 0, layout.gatewayColumn.number(index, in: bytes) == nodeAsGateway else { return false }
        }
        if let gateway, layout.gatewayColumn.number(index, in: bytes) != gateway { return false }
        guard onlyFirstReadable || withoutRepeats else { return true }
        let flags = layout.eventFlags(index, in: bytes)
        return (!onlyFirstReadable || flags.contains(.makesRow)) && (!withoutRepeats || !flags.contains(.isRepeat))
    }
}
