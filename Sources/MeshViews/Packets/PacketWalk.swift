import FlatCollections
import Meshtastic
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
    /// By sender and mark, the packets whose beginnings have not been reached: of several the one that began last comes first.
    private var open: [UInt64: [Group]] = [:]

    package init(_ selection: EventSelection, _ range: ClosedRange<UInt64>) {
        self.selection = selection == EventSelection() ? nil : selection
        self.range = range
    }

    /// Entries of a block whose packets are all in it.
    package struct WholeEntries: Sendable {
        private var words: [UInt64]

        fileprivate init(_ states: [BlockPackets.State]) {
            words = [UInt64](repeating: 0, count: states.count / 64 + 1)
            for entry in states.indices where states[entry].isWhole { words[entry / 64] |= 1 << UInt64(entry % 64) }
        }

        fileprivate func contains(_ entry: Int) -> Bool {
            entry / 64 < words.count && words[entry / 64] & 1 << UInt64(entry % 64) != 0
        }
    }

    /// The wanted packets that begin in a block, the newest first.
    package mutating func groups(in layout: PacketBlockLayout, _ block: UInt64, _ bytes: RawSpan) -> [Found] {
        let packets = BlockPackets(layout, Self.first(of: layout, block), range, open.keys, bytes)
        return groups(in: layout, block, bytes, packets, withWhole: true)
    }

    /// The same without those that are all in the block, and the entries that these have.
    package mutating func sharedGroups(
        in layout: PacketBlockLayout, _ block: UInt64, _ bytes: RawSpan
    ) -> (found: [Found], whole: WholeEntries) {
        let packets = BlockPackets(layout, Self.first(of: layout, block), range, open.keys, bytes)
        return (groups(in: layout, block, bytes, packets, withWhole: false), WholeEntries(packets.states))
    }

    /// The packets of these entries, whatever the walk has come across before.
    package mutating func wholeGroups(
        _ whole: WholeEntries, in layout: PacketBlockLayout, _ block: UInt64, _ bytes: RawSpan
    ) -> [Found] {
        var packets = BlockPackets(layout, Self.first(of: layout, block), range, [], bytes)
        packets.keep { whole.contains($0) }
        return groups(in: layout, block, bytes, packets, withWhole: true)
    }

    private static func first(of layout: PacketBlockLayout, _ block: UInt64) -> UInt64 {
        block * PacketBlock.eventCount + 1 + UInt64(layout.skipped)
    }

    private mutating func groups(
        in layout: PacketBlockLayout, _ block: UInt64, _ bytes: RawSpan, _ packets: BlockPackets, withWhole: Bool
    ) -> [Found] {
        let first = Self.first(of: layout, block)
        var isWanted = [Bool](repeating: selection == nil, count: layout.eventCount)
        if let selection {
            for sequence in layout.find(selection, block: block, in: range, bytes) { isWanted[Int(sequence - first)] = true }
        }
        let titles = layout.channels.map { place(ofChannel: $0.title) }
        func reception(_ index: Int) -> Reception {
            let kind = layout.kinds[layout.kindColumn.number(Int(packets.entries[index]), in: bytes)]
            return Reception(
                sequence: first + UInt64(index), port: kind.flags.contains(.isReadable) ? kind.port : nil,
                channel: kind.channel >= 0 ? titles[Int(kind.channel)] : -1)
        }
        var groups: [Found] = []
        if withWhole, selection == nil { groups.reserveCapacity(layout.entryCount) }
        // Of whole packets: the oldest event so far of each entry, and of each event the next newer one.
        var oldest = [Int32](repeating: -1, count: layout.entryCount)
        var newer = [Int32](repeating: -1, count: layout.eventCount)
        for index in packets.entries.indices.reversed() where packets.entries[index] >= 0 {
            let entry = Int(packets.entries[index])
            guard packets.states[entry] != .noPacket, withWhole || !packets.states[entry].isWhole else { continue }
            let flags = layout.eventFlags(index, in: bytes)
            if packets.states[entry] == .ofNobody {
                if isWanted[index] {
                    let sender = PacketMark.sender(ofKey: packets.keys[entry])
                    groups.append(Found(sender: sender, receptions: [reception(index)], hasTwin: false))
                }
                continue
            }
            guard packets.states[entry] == .whole else {
                if let found = add(reception(index), of: packets.keys[entry], flags, isWanted[index]) { groups.append(found) }
                continue
            }
            newer[index] = oldest[entry]
            oldest[entry] = Int32(index)
            guard flags.contains(.isFirstReception) else { continue }
            oldest[entry] = -1
            var (next, count, isWantedHere) = (index, 0, false)
            while next >= 0 {
                isWantedHere = isWantedHere || isWanted[next]
                (next, count) = (Int(newer[next]), count + 1)
            }
            guard isWantedHere else { continue }
            var receptions: [Reception] = []
            receptions.reserveCapacity(count)
            next = index
            while next >= 0 {
                if next == index || !layout.eventFlags(next, in: bytes).contains(.isRepeat) { receptions.append(reception(next)) }
                next = Int(newer[next])
            }
            let sender = PacketMark.sender(ofKey: packets.keys[entry])
            groups.append(Found(sender: sender, receptions: receptions, hasTwin: false))
        }
        return groups
    }

    /// - Returns: the packet, if it is wanted and begins with this reception.
    private mutating func add(_ reception: Reception, of packet: UInt64, _ flags: EventFlags, _ isWanted: Bool) -> Found? {
        let sender = PacketMark.sender(ofKey: packet)
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
                let other = Int(flags.laterTwins)
                while twins.count <= other { twins.append(Group()) }
                twins[other].hasTwin = true
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
                    sender: PacketMark.sender(ofKey: packet), receptions: $0.receptions.reversed(), hasTwin: $0.hasTwin)
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

/// The entries of a block's events, and which of them are of packets that begin and end in it.
private struct BlockPackets {
    enum State {
        case unseen
        /// It holds none, or one that breaks the wire format.
        case noPacket
        /// Its sender is no node: nothing tells which of its events are one packet, so each is one.
        case ofNobody
        /// All receptions of its packets are its events, since they begin in the block and no others have their senders and marks.
        case whole
        case shared

        var isWhole: Bool { self == .whole || self == .ofNobody }
    }

    /// By event; -1 for one that is not in the range or holds no packet.
    private(set) var entries: [Int32]
    /// By entry: see `PacketMark.key`.
    private(set) var keys: [UInt64]
    private(set) var states: [State]

    /// - Parameter open: the packets that later blocks have receptions of.
    init(
        _ layout: PacketBlockLayout, _ first: UInt64, _ range: ClosedRange<UInt64>, _ open: some Sequence<UInt64>,
        _ bytes: RawSpan
    ) {
        var entries = [Int32](repeating: -1, count: layout.eventCount)
        var states = [State](repeating: .unseen, count: layout.entryCount)
        var keys = [UInt64](repeating: 0, count: layout.entryCount)
        let isPacket = layout.kinds.map { $0.flags.contains(.hasPacket) && !$0.flags.contains(.isBroken) }
        layout.forEachEvent(in: bytes) { index, entry in
            guard entry < layout.entryCount, range.contains(first + UInt64(index)) else { return }
            let flags = layout.eventFlags(index, in: bytes)
            if states[entry] == .unseen {
                let kind = layout.kindColumn.number(entry, in: bytes)
                if kind < isPacket.count, isPacket[kind] {
                    states[entry] = flags.contains(.isFirstReception) ? .whole : .shared
                } else {
                    states[entry] = .noPacket
                }
            }
            guard states[entry] != .noPacket else { return }
            if flags.contains(.hasTwin) || flags.laterTwins > 0 { states[entry] = .shared }
            entries[index] = Int32(entry)
        }
        var places = FlatMap(minimumCapacity: layout.entryCount)
        for entry in states.indices where states[entry] == .whole || states[entry] == .shared {
            keys[entry] = layout.packetKey(entry, in: bytes)
            let sender = PacketMark.sender(ofKey: keys[entry])
            if sender == 0 || sender == NodeID.broadcast {
                states[entry] = .ofNobody
                continue
            }
            if let other = places[keys[entry]] {
                states[Int(other)] = .shared
                states[entry] = .shared
            } else {
                places.set(keys[entry], Int32(entry))
            }
        }
        for key in open { if let entry = places[key] { states[Int(entry)] = .shared } }
        (self.entries, self.keys, self.states) = (entries, keys, states)
    }

    /// Of the others' events there are no packets then.
    mutating func keep(_ isKept: (Int) -> Bool) {
        for entry in states.indices where !isKept(entry) { states[entry] = .noPacket }
    }
}
