import FlatCollections
import LMDB
import Meshtastic
import Projections

/// How far from its first reception another one may be, in seconds, to be of the same packet.
package let packetWindowSeconds = SeenPackets.windowSeconds

/// Which packets are known, and their receivers: a packet is (from, id, content) within one hour of reception time from its first reception.
///
/// Bounded and deterministic: the newest 16,384 packets and 32,768 receptions are always remembered, up to 1,048,576 and 2,097,152 while they are within the
/// hour. It is a log of records, oldest first, with a map into it; a view stores the same records, so that restoring them
/// in order gives the same table.
struct SeenPackets: Sendable {
    /// With a change, raise `packets` in `MeshStage.rules`.
    static let windowSeconds: UInt32 = 3_600
    static let alwaysKept = 16_384
    static let mostKept = 1_048_576
    /// How many packets with the same sender and id, the most recently updated ones, a packet is compared with.
    static let mostCompared = 8
    /// How many packets of the same sender and mark, the most recently updated ones, are looked at: forged ones can be any number.
    static let mostWalked = 32
    /// The index has four bits for this count.
    static let mostLaterTwins: UInt8 = 15

    /// What is known about a reception.
    struct Hearing {
        /// `from` and `id`, or without an id `from` and a hash of what its sender has written.
        var packet: UInt64
        var sequence: UInt64
        /// When it was heard, seconds since 1970; 0 if unknown.
        var time: UInt32
        /// The time of the row that its port's view makes from it.
        var rowTime: UInt32 = 0
        var gateway: UInt32 = 0
        var isReadable: Bool
        /// State that a node replays to its client: not a reception, and the same packet however much later.
        var isReplayedState = false
        var print = PacketPrint()
    }

    /// An event's relation to its packet.
    struct Verdict: Equatable {
        var firstSequence: UInt64
        var isFirstReception = false
        var isFirstReadable = false
        /// The gateway has reported this packet before, in exactly this reception.
        var isRepeat = false
        var isFirstOfGateway = true
        /// How many packets of the same sender and mark began later than this one.
        /// Of a first reception: later than the packet that it is in conflict with.
        var laterTwins: UInt8 = 0
        /// An earlier reception was readable.
        var wasReadable = false
        /// An earlier packet has the same sender and id within the hour, but different content.
        var hasTwin = false
        /// If this event is the first of its packet: the first event of the packet with the same sender and id within the hour but different content.
        var twin: UInt64?
        /// The row of a later reception, which must be removed since this reception was earlier.
        var superseded: SupersededRow?
    }

    private var packets = RecentRing<SeenPacket>(filler: SeenPacket())
    private var places = FlatMap(minimumCapacity: 1_024)
    private(set) var receptions = HeardReceptions()
    /// Exists only so that the compiler keeps the reads of `prefetch`.
    private var prefetched: UInt64 = 0

    var count: Int { packets.count }

    /// Records below this are dropped.
    var oldestRecord: UInt64 { packets.count > 0 ? packets[packets.head].record : 0 }

    /// How many packets `prefetch` handles at once: as many as the processor can fetch from main memory together.
    static let prefetchCount = 32

    /// Reads the slots that `place` is about to look up and drop, so that they are in the processor's caches when packets need them.
    mutating func prefetch(at packets: Span<DecodedPacket>, _ range: Range<Int>) {
        var sum: UInt64 = 0
        for index in range {
            sum &+= places.prefetch(at: PacketMark.key(packets[index].from, PacketMark.of(id: packets[index].id)))
        }
        let head = self.packets.head
        for position in head..<min(head + Int64(range.count), self.packets.tail) {
            sum &+= places.prefetch(at: PacketMark.key(of: self.packets[position].packet))
        }
        prefetched &+= sum
    }

    static func key(_ from: UInt32, _ id: UInt32) -> UInt64 { UInt64(from) << 32 | UInt64(id) }

    // The map has 30 bits for a position, which covers all positions in use at a time.
    private static let positionMask: Int64 = (1 << 30) - 1

    @inline(__always)
    private func newest(ofMark key: UInt64) -> Int64 {
        places[key].map { position(of: $0) } ?? -1
    }

    @inline(__always)
    private func position(of place: Int32) -> Int64 { packets.tail - ((packets.tail - Int64(place)) & Self.positionMask) }

    private static func place(of position: Int64) -> Int32 { Int32(truncatingIfNeeded: position & positionMask) }

    /// Adds a reception, and records the changes.
    mutating func place(_ hearing: Hearing, changes: inout StageState) -> Verdict {
        defer { forget(at: hearing.time) }
        let (position, parent, twin) = match(hearing)
        if position >= 0 { return hearAgain(hearing, at: position, below: parent, &changes) }
        var packet = SeenPacket(hearing, hasTwin: twin >= 0)
        var verdict = Verdict(
            firstSequence: hearing.sequence, isFirstReception: true, isFirstReadable: hearing.isReadable, hasTwin: twin >= 0)
        if twin >= 0 {
            verdict.twin = packets[twin].firstSequence
            verdict.laterTwins = laterTwins(of: packets[twin])
        }
        packet.lastReception = hear(hearing, of: packet, &changes)
        changes.records.append(packet.stored)
        append(packet, after: newest(ofMark: packet.mark))
        return verdict
    }

    /// The packet that this is a reception of; its position is negative if the packet is new. Of several that nothing contradicts, it is the one that already has this very
    /// reception, so that the reception counts once; else the first.
    private func match(_ hearing: Hearing) -> (position: Int64, parent: Int64, twin: Int64) {
        var (parent, position) = (Int64(-1), newest(ofMark: PacketMark.key(of: hearing.packet)))
        var (steps, compared, twin) = (0, 0, Int64(-1))
        var first: (position: Int64, parent: Int64)?
        while position >= 0, packets.holds(position), steps < Self.mostWalked, compared < Self.mostCompared {
            let known = packets[position]
            let isOfID = known.packet == hearing.packet
            if isOfID { compared += 1 }
            if isOfID, known.isWithin(Self.windowSeconds, of: hearing) {
                if known.hasContent(of: hearing) {
                    let isAlone = first == nil && known.older < 0
                    if isAlone || hearing.isReplayedState || receptions.find(hearing, from: known.lastReception).isRepeat {
                        return (position, parent, -1)
                    }
                    first = first ?? (position, parent)
                } else if twin < 0, known.isTwin(of: hearing) {
                    twin = position
                }
            }
            (parent, position, steps) = (position, known.older, steps + 1)
        }
        guard let first else { return (-1, -1, twin) }
        return (first.position, first.parent, -1)
    }

    private mutating func hearAgain(
        _ hearing: Hearing, at position: Int64, below parent: Int64, _ changes: inout StageState
    ) -> Verdict {
        let known = packets[position]
        var verdict = Verdict(firstSequence: known.firstSequence)
        if !hearing.isReplayedState {
            (verdict.isRepeat, verdict.isFirstOfGateway) = receptions.find(hearing, from: known.lastReception)
            if !verdict.isRepeat { packets[position].lastReception = hear(hearing, of: known, &changes) }
        }
        verdict.isFirstReadable = hearing.isReadable && !known.isReadable
        if known.isSuperseded(by: hearing) {
            verdict.superseded = SupersededRow(sequence: known.rowSequence, time: known.rowTime)
        }
        verdict.laterTwins = laterTwins(of: known)
        (verdict.wasReadable, verdict.hasTwin) = (known.isReadable, known.hasTwin)
        if let renewed = packets[position].renewed(by: hearing) {
            changes.records.append(renewed.stored)
            replace(position, below: parent, with: renewed)
        }
        return verdict
    }

    private mutating func hear(_ hearing: Hearing, of packet: SeenPacket, _ changes: inout StageState) -> Int64 {
        guard !hearing.isReplayedState else { return -1 }
        let reception = HeardReception(hearing, firstSequence: packet.firstSequence)
        changes.receptions.append(reception.stored)
        return receptions.append(reception, older: packet.lastReception)
    }

    private func laterTwins(of packet: SeenPacket) -> UInt8 {
        var (position, steps, found) = (newest(ofMark: packet.mark), 0, UInt8(0))
        while position >= 0, packets.holds(position), steps < Self.mostWalked, found < Self.mostLaterTwins {
            if packets[position].firstSequence > packet.firstSequence { found += 1 }
            (position, steps) = (packets[position].older, steps + 1)
        }
        return found
    }

    /// Moves the packet, with its new state, to the front of the list of those with its sender and mark.
    private mutating func replace(_ position: Int64, below parent: Int64, with renewed: SeenPacket) {
        let next = packets[position].older
        guard parent >= 0 else { return append(renewed, after: next) }
        packets[parent].older = next
        append(renewed, after: newest(ofMark: renewed.mark))
    }

    private mutating func append(_ packet: SeenPacket, after older: Int64) {
        if count == Self.mostKept { forgetOldest() }  // before it is added, so that the tables need not double for one
        var packet = packet
        packet.older = older
        places.set(packet.mark, Self.place(of: packets.append(packet)))
    }

    private mutating func forget(at time: UInt32) {
        receptions.forget(at: time)
        while count > Self.alwaysKept {
            let oldest = packets[packets.head]
            let age = time > oldest.firstTime ? time - oldest.firstTime : 0  // 0 if this event's time is unknown
            guard age > Self.windowSeconds else { return }
            forgetOldest()
        }
    }

    private mutating func forgetOldest() {
        places.remove(packets[packets.head].mark, ifItIs: Self.place(of: packets.head))
        guard packets.removeFirst() else { return }
        places = FlatMap(minimumCapacity: count)
        FreedMemory.giveBackSoon()
        // Of one sender and mark, the newest is the last.
        for position in packets.head..<packets.tail { places.set(packets[position].mark, Self.place(of: position)) }
    }

    /// How many packets and receptions fit into the memory that they take now.
    var capacity: (packets: Int, receptions: Int) { (packets.capacity, receptions.capacity) }

    /// The receivers of a packet so far, the oldest first; limited to the latest ones.
    func hearings(of hearing: Hearing, most: Int) -> [(gateway: UInt32, time: UInt32)] {
        let position = match(hearing).position
        return position < 0 ? [] : receptions.list(from: packets[position].lastReception, most: most)
    }

    // MARK: Stored form

    /// Restores stored records, in their order.
    mutating func restore(_ stageState: StageState) {
        for record in stageState.records {
            let packet = SeenPacket(record)
            // Of a forged mark, there may be any number of packets: only what was found when it was heard again is looked for.
            let (position, parent) = packet.firstSequence == packet.record ? (-1, -1) : find(packet)
            if position >= 0 {
                replace(position, below: parent, with: packet)
            } else {
                append(packet, after: newest(ofMark: packet.mark))
            }
        }
        guard !stageState.receptions.isEmpty else { return }
        let byFirst = placesByFirstSequence()
        for record in stageState.receptions {
            let reception = HeardReception(record)
            let packet = byFirst[reception.firstSequence].map { position(of: $0) } ?? -1
            let place = receptions.append(reception, older: packet >= 0 ? packets[packet].lastReception : -1)
            if packet >= 0 { packets[packet].lastReception = place }
        }
    }

    private func placesByFirstSequence() -> FlatMap {
        var found = FlatMap(minimumCapacity: count)
        // Of one packet, the newest record is the last.
        for position in packets.head..<packets.tail { found.set(packets[position].firstSequence, Self.place(of: position)) }
        return found
    }

    private func find(_ packet: SeenPacket) -> (position: Int64, parent: Int64) {
        var (parent, position) = (Int64(-1), newest(ofMark: packet.mark))
        while position >= 0, packets.holds(position) {
            if packets[position].firstSequence == packet.firstSequence { return (position, parent) }
            (parent, position) = (position, packets[position].older)
        }
        return (-1, -1)
    }
}

/// A packet's row that is removed because an earlier reception was found.
struct SupersededRow: Sendable, Equatable {
    /// The event that made it, and its time.
    var sequence: UInt64
    var time: UInt32
}

extension CappedSeries {
    /// Removes the superseded row.
    /// - Returns: whether it still existed.
    @discardableResult
    mutating func supersede(
        _ old: SupersededRow, prefix: UInt64, by event: UInt64, _ store: ViewStore
    ) throws(StorageError) -> Bool {
        try supersede(prefix: prefix, time: old.time, sequence: old.sequence, by: event, store)
    }
}

extension MeshBatch.Stamp {
    mutating func take(_ verdict: SeenPackets.Verdict) {
        firstSequence = verdict.firstSequence
        isFirstReception = verdict.isFirstReception
        isFirstReadable = verdict.isFirstReadable
        isRepeat = verdict.isRepeat
        isFirstOfGateway = verdict.isFirstOfGateway
        laterTwins = verdict.laterTwins
        supersedes = verdict.superseded != nil
        wasReadable = verdict.wasReadable
        hasTwin = verdict.hasTwin
    }
}
