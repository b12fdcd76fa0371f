import ProtobufWire

/// A block's value: numbers of the parts, then the parts in this order, then eight bytes, little-endian: in the lower five the latest time + 1, or 0 where it
/// is not known, in the upper three the length of the last part in bytes. Numbers are varints unless stated otherwise.
///
/// - skipped events, events, entries, nodes, gateways, channels, kinds, entries that name nodes, bytes of the far references;
/// - nodes: four bytes each, little-endian, rising; gateways: places among them, in bits;
/// - channels: length and bytes of the name, eight bytes of fingerprint, hash + 1 or 0; kinds: place of the channel + 1 or 0, port, flags;
/// - entries: senders' places in bits; three bytes of the packets' ids; kinds in bits;
/// - events: four bits how many entries back its entry lies (0 for a new one, 15 for a far one); two bits of flags; gateways + 1 or 0 in bits;
/// - the far references: how many entries beyond 15 each lies back;
/// - for each entry that names nodes: how many entries lie between it and the one before, how many nodes, their places;
/// - for each event with more than two flags: how many events lie between it and the one before, a byte of flags.
extension PacketBlock {
    static let nearest = 15

    func encoded() -> [UInt8] {
        // The number before its index: so a pair is compared without looking the number up.
        let order = nodes.indices.map { UInt64(nodes[$0]) << 32 | UInt64($0) }.sorted().map { Int($0 & 0xffff_ffff) }
        var places = [Int](repeating: 0, count: nodes.count)
        for (place, index) in order.enumerated() { places[index] = place }
        let (far, backs) = references()
        let naming = entries.indices.filter { entries[$0].namedCount > 0 }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(32 + nodes.count * 4 + entries.count * 7 + events.count * 3 + far.count + named.count * 3)
        let counts = [
            skipped, events.count, entries.count, nodes.count, gateways.count, channels.count, kinds.count, naming.count,
            far.count,
        ]
        for count in counts { Bits.append(varint: UInt64(count), to: &bytes) }
        for index in order { Self.append(nodes[index], count: 4, to: &bytes) }
        let nodeWidth = Bits.width(below: nodes.count)
        Bits.append(gateways.lazy.map { places[Int($0)] }, width: nodeWidth, to: &bytes)
        encodeKinds(to: &bytes)
        Bits.append(entries.lazy.map { places[Int($0.sender)] }, width: nodeWidth, to: &bytes)
        for entry in entries { Self.append(entry.mark, count: 3, to: &bytes) }
        Bits.append(entries.lazy.map { Int($0.kind) }, width: Bits.width(below: kinds.count), to: &bytes)
        Bits.append(backs, width: 4, to: &bytes)
        Bits.append(events.lazy.map { Int($0.flags.rawValue & EventFlags.stored) }, width: 2, to: &bytes)
        Bits.append(events.lazy.map { Int($0.gateway) }, width: Bits.width(below: gateways.count + 1), to: &bytes)
        bytes += far
        var last = -1
        for index in naming {
            Bits.append(varint: UInt64(index - last - 1), to: &bytes)
            last = index
            let entry = entries[index]
            Bits.append(varint: UInt64(entry.namedCount), to: &bytes)
            for place in named[Int(entry.firstNamed)..<Int(entry.firstNamed + entry.namedCount)] {
                Bits.append(varint: UInt64(places[Int(place)]), to: &bytes)
            }
        }
        let latest = (latestTime.map { UInt64($0) + 1 } ?? 0) | UInt64(appendMoreFlags(to: &bytes)) << 40
        Self.append(UInt32(truncatingIfNeeded: latest), count: 4, to: &bytes)
        Self.append(UInt32(truncatingIfNeeded: latest >> 32), count: 4, to: &bytes)
        return bytes.rawSpan.asArray  // many wait for a commit: without spare capacity
    }

    /// - Returns: the number of bytes.
    private func appendMoreFlags(to bytes: inout [UInt8]) -> Int {
        let start = bytes.count
        var last = -1
        for (index, event) in events.enumerated() where event.flags.rawValue > EventFlags.stored {
            Bits.append(varint: UInt64(index - last - 1), to: &bytes)
            bytes.append(event.flags.rawValue)
            last = index
        }
        return bytes.count - start
    }

    private static func append(_ number: UInt32, count: Int, to bytes: inout [UInt8]) {
        for index in 0..<count { bytes.append(UInt8(truncatingIfNeeded: number >> UInt32(8 * index))) }
    }

    private func encodeKinds(to bytes: inout [UInt8]) {
        for channel in channels {
            let name = Array(channel.name.utf8)
            Bits.append(varint: UInt64(name.count), to: &bytes)
            bytes += name
            Self.append(UInt32(truncatingIfNeeded: channel.keyFingerprint), count: 4, to: &bytes)
            Self.append(UInt32(truncatingIfNeeded: channel.keyFingerprint >> 32), count: 4, to: &bytes)
            Bits.append(varint: channel.hash.map { UInt64($0) + 1 } ?? 0, to: &bytes)
        }
        for kind in kinds {
            Bits.append(varint: UInt64(kind.channel + 1), to: &bytes)
            Bits.append(varint: UInt64(kind.port), to: &bytes)
            bytes.append(kind.flags.rawValue)
        }
    }

    private func references() -> (far: [UInt8], backs: [Int]) {
        var far: [UInt8] = []
        var next = 0
        let backs = events.map { event in
            let entry = Int(event.entry)
            if entry == next {
                next += 1
                return 0
            }
            let back = next - entry
            guard back >= Self.nearest else { return back }
            Bits.append(varint: UInt64(back - Self.nearest), to: &far)
            return Self.nearest
        }
        return (far, backs)
    }

    /// The block of stored bytes; nil where they are damaged.
    package init?(number: UInt64, decoding bytes: RawSpan) {
        guard let layout = PacketBlockLayout(bytes) else { return nil }
        self.init(number: number, skipped: layout.skipped, latestTime: layout.latestTime)
        nodes = (0..<layout.nodeCount).map { layout.node($0, in: bytes) }
        gateways = (0..<layout.gatewayCount).map { Int32(layout.gateways.number($0, in: bytes)) }
        (channels, kinds) = (layout.channels, layout.kinds)
        for index in 0..<layout.entryCount {
            entries.append(
                Entry(
                    sender: Int32(layout.senders.number(index, in: bytes)), mark: layout.mark(index, in: bytes),
                    kind: Int32(layout.kindColumn.number(index, in: bytes)), firstNamed: 0, namedCount: 0))
        }
        var isWhole = true
        layout.forEachNaming(in: bytes) { entry, places in
            entries[entry].firstNamed = Int32(named.count)
            entries[entry].namedCount = Int32(places.count)
            named += places
        }
        layout.forEachEvent(in: bytes) { index, entry in
            if entry >= entries.count { isWhole = false }
            events.append(
                Event(
                    entry: Int32(entry), gateway: Int32(layout.gatewayColumn.number(index, in: bytes)),
                    flags: layout.eventFlags(index, in: bytes)))
        }
        let places = 0..<Int32(nodes.count)
        isWhole = isWhole && gateways.allSatisfy(places.contains) && named.allSatisfy(places.contains)
        isWhole = isWhole && entries.allSatisfy { places.contains($0.sender) && Int($0.kind) < kinds.count }
        guard isWhole, events.allSatisfy({ Int($0.gateway) <= gateways.count }) else { return nil }
        findPlaces()
    }
}
