import ProtobufWire

/// Collects the receptions of packets on the way from the newest event to the oldest.
package struct PacketWalk {
    private struct Group {
        /// The newest first, without those that only repeat another.
        var receptions: [Reception] = []
        var isWanted = false
        /// Another packet within the hour has the same sender and id.
        var hasTwin = false
    }

    /// What the index has of a reception.
    package struct Reception: Sendable {
        package var sequence: UInt64
        /// Nil where it is not readable.
        package var port: UInt32?
        /// Its place in `channels`; -1 without one.
        package var channel: Int32
    }

    /// A packet that begins at the walk's position.
    package struct Found: Sendable {
        package var sender: UInt32
        /// The oldest first, at least one.
        package var receptions: [Reception]
        package var hasTwin: Bool

        /// The first one that is readable, else the first one.
        package var readable: Reception? { receptions.first { $0.port != nil } ?? receptions.first }
    }

    /// The titles of the channels that the walk has come across.
    package private(set) var channels: [String] = []
    private var channelPlaces: [String: Int32] = [:]
    /// Nil for all packets.
    private let selection: EventSelection?
    private let range: ClosedRange<UInt64>
    /// By sender and part of the id, the packets whose beginnings have not been reached: of several the one that began last comes first.
    private var open: [UInt64: [Group]] = [:]

    package init(_ selection: EventSelection, _ range: ClosedRange<UInt64>) {
        self.selection = selection == EventSelection() ? nil : selection
        self.range = range
    }

    /// The wanted packets that begin in a block, the newest first.
    package mutating func groups(in layout: PacketBlockLayout, _ block: UInt64, _ bytes: RawSpan) -> [Found] {
        let first = block * PacketBlock.eventCount + 1 + UInt64(layout.skipped)
        let wanted = selection.map { Set(layout.find($0, block: block, in: range, bytes)) }
        let titles = layout.channels.map { place(ofChannel: $0.title) }
        var entries = [Int32](repeating: 0, count: layout.eventCount)
        layout.forEachEvent(in: bytes) { index, entry in entries[index] = Int32(entry) }
        var groups: [Found] = []
        for index in entries.indices.reversed() {
            let sequence = first + UInt64(index)
            let entry = Int(entries[index])
            guard range.contains(sequence), entry < layout.entryCount else { continue }
            let number = layout.kindColumn.number(entry, in: bytes)
            guard number < layout.kinds.count else { continue }
            let kind = layout.kinds[number]
            guard kind.flags.contains(.hasPacket), !kind.flags.contains(.isBroken) else { continue }
            let sender = layout.node(min(layout.senders.number(entry, in: bytes), layout.nodeCount - 1), in: bytes)
            let packet = UInt64(sender) << 24 | UInt64(layout.mark(entry, in: bytes))
            let flags = layout.eventFlags(index, in: bytes)
            let reception = Reception(
                sequence: sequence, port: kind.flags.contains(.isReadable) ? kind.port : nil,
                channel: kind.channel >= 0 ? titles[Int(kind.channel)] : -1)
            let isWanted = wanted?.contains(sequence) ?? true
            if let found = add(reception, of: packet, flags, isWanted) { groups.append(found) }
        }
        return groups
    }

    /// - Returns: the packet, if it is wanted and begins with this reception.
    private mutating func add(_ reception: Reception, of packet: UInt64, _ flags: EventFlags, _ isWanted: Bool) -> Found? {
        let sender = UInt32(truncatingIfNeeded: packet >> 24)
        let known = open.index(forKey: packet)
        if known == nil, flags.contains(.isFirstReception), !flags.contains(.hasTwin) {  // most packets
            return isWanted ? Found(sender: sender, receptions: [reception], hasTwin: false) : nil
        }
        var twins = known.map { open.values[$0] } ?? []
        if let known { open.values[known] = [] }  // so that it is not copied
        let place = flags.contains(.isFirstReception) ? 0 : Int(flags.laterTwins)
        while twins.count <= place { twins.append(Group()) }
        if !flags.contains(.isRepeat) { twins[place].receptions.append(reception) }
        twins[place].isWanted = twins[place].isWanted || isWanted
        var found: Found?
        if flags.contains(.isFirstReception) {
            let group = twins.removeFirst()
            let hasTwin = group.hasTwin || flags.contains(.hasTwin)
            if group.isWanted { found = Found(sender: sender, receptions: group.receptions.reversed(), hasTwin: hasTwin) }
            if flags.contains(.hasTwin) {
                if twins.isEmpty { twins.append(Group()) }
                twins[0].hasTwin = true
            }
        }
        if let known {
            if twins.isEmpty { open.remove(at: known) } else { open.values[known] = twins }
        } else if !twins.isEmpty {
            open[packet] = twins
        }
        return found
    }

    /// Packets that begin before the range, in the order of their first receptions in it, the newest first.
    package func rest() -> [Found] {
        open.flatMap { packet, groups in
            groups.filter { $0.isWanted && !$0.receptions.isEmpty }.map {
                Found(
                    sender: UInt32(truncatingIfNeeded: packet >> 24), receptions: $0.receptions.reversed(), hasTwin: $0.hasTwin)
            }
        }.sorted { $0.receptions[0].sequence > $1.receptions[0].sequence }
    }

    private mutating func place(ofChannel title: String) -> Int32 {
        if let known = channelPlaces[title] { return known }
        channels.append(title)
        channelPlaces[title] = Int32(channels.count - 1)
        return Int32(channels.count - 1)
    }
}
