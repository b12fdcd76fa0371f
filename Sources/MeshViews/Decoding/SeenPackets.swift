import Meshtastic
import Projections

/// Which packets were heard already: (from, id) within one hour of reception time from the first reception.
///
/// Bounded and deterministic: the newest 16,384 packets are always remembered, up to 1,048,576 while they are within the
/// hour. It is a log of records, oldest first, with a map into it; a view stores the same records, so that restoring them
/// in order gives the same table.
struct SeenPackets: Sendable {
    /// Part of every recipe: change it together with the projections' versions.
    static let windowSeconds: UInt32 = 3_600
    static let alwaysKept = 16_384
    static let mostKept = 1_048_576

    /// 24 bytes, as a view stores it: there may be a million of them in each view.
    private struct Entry {
        var record: UInt64
        var packet: UInt64
        var firstTime: UInt32
        /// How many sequences before the record the first reception lies, times two, and whether one was readable.
        private var flags: UInt32

        static let none = Entry(record: 0, packet: 0, firstTime: 0, flags: 0)

        init(record: UInt64, packet: UInt64, firstTime: UInt32, flags: UInt32) {
            (self.record, self.packet, self.firstTime, self.flags) = (record, packet, firstTime, flags)
        }

        init(record: UInt64, packet: UInt64, firstTime: UInt32, isReadable: Bool, firstSequence: UInt64) {
            let back = min(record &- firstSequence, UInt64(UInt32.max >> 1))
            self.init(record: record, packet: packet, firstTime: firstTime, flags: UInt32(back) << 1 | (isReadable ? 1 : 0))
        }

        init(_ stored: Carry.Record) {
            self.init(
                record: stored.sequence, packet: stored.first, firstTime: UInt32(truncatingIfNeeded: stored.second >> 32),
                flags: UInt32(truncatingIfNeeded: stored.second))
        }

        var stored: Carry.Record {
            Carry.Record(sequence: record, first: packet, second: UInt64(firstTime) << 32 | UInt64(flags))
        }

        var isReadable: Bool { flags & 1 == 1 }
        var firstSequence: UInt64 { record &- UInt64(flags >> 1) }
    }

    /// What an event is to its packet.
    struct Verdict {
        var firstSequence: UInt64
        var isFirstReception: Bool
        var isFirstReadable: Bool
    }

    private var ring: [Entry]
    private var head: Int64 = 0
    private var tail: Int64 = 0
    private var places: FlatMap
    /// Only so that what `glance` reads is not for nothing.
    private var glanced: UInt64 = 0

    init() {
        ring = Array(repeating: .none, count: 1_024)
        places = FlatMap(minimumCapacity: 1_024)
    }

    var count: Int { Int(tail - head) }

    /// Records below this are forgotten.
    var oldestRecord: UInt64 { head < tail ? ring[slot(head)].record : 0 }

    @inline(__always)
    private func slot(_ position: Int64) -> Int { Int(position) & (ring.count &- 1) }

    /// How many packets `glance` takes at once: as many as wait for main memory together.
    static let glanceCount = 32

    /// Lets the next `place` of each of these packets find in the processor's caches what it looks for, and forgets, in main memory.
    mutating func glance(at packets: Span<DecodedPacket>, _ range: Range<Int>) {
        var sum: UInt64 = 0
        for index in range {
            sum &+= places.glance(at: Self.key(packets[index].from, packets[index].id))
        }
        for position in head..<min(head + Int64(range.count), tail) { sum &+= places.glance(at: ring[slot(position)].packet) }
        glanced &+= sum
    }

    static func key(_ from: UInt32, _ id: UInt32) -> UInt64 { UInt64(from) << 32 | UInt64(id) }

    /// Places the reception `sequence` of the packet `(from, id)`, heard at `time` (seconds; 0 where nobody knows), and notes
    /// what changed.
    mutating func place(
        packet: UInt64, time: UInt32, sequence: UInt64, isReadable: Bool, isWindowless: Bool, changes: inout [Carry.Record]
    ) -> Verdict {
        defer { forget(at: time) }
        if let place = places[packet] {
            let at = slot(Int64(place))
            let entry = ring[at]
            let distance = time > entry.firstTime ? time - entry.firstTime : entry.firstTime - time
            let isTimeUnknown = time == 0 || entry.firstTime == 0
            if isWindowless || isTimeUnknown || distance <= Self.windowSeconds {
                let turnsReadable = isReadable && !entry.isReadable
                let turnsTimed = entry.firstTime == 0 && time != 0
                if turnsReadable || turnsTimed {
                    let renewed = Entry(
                        record: sequence, packet: packet, firstTime: turnsTimed ? time : entry.firstTime,
                        isReadable: entry.isReadable || isReadable, firstSequence: entry.firstSequence)
                    remember(renewed, &changes)
                }
                return Verdict(
                    firstSequence: entry.firstSequence, isFirstReception: false, isFirstReadable: turnsReadable)
            }
        }
        remember(
            Entry(record: sequence, packet: packet, firstTime: time, isReadable: isReadable, firstSequence: sequence), &changes)
        return Verdict(firstSequence: sequence, isFirstReception: true, isFirstReadable: isReadable)
    }

    private mutating func remember(_ entry: Entry, _ changes: inout [Carry.Record]) {
        append(entry)
        changes.append(entry.stored)
    }

    private mutating func append(_ entry: Entry) {
        if count == Self.mostKept { forgetOldest() }  // before it is added, so that the tables need not double for one
        if count == ring.count { grow() }
        if tail >= Int64(Int32.max) - 1 { renumber() }
        ring[slot(tail)] = entry
        places.set(entry.packet, Int32(truncatingIfNeeded: tail))
        tail += 1
    }

    private mutating func forget(at time: UInt32) {
        while count > Self.alwaysKept {
            let oldest = ring[slot(head)]
            let age = time > oldest.firstTime ? time - oldest.firstTime : 0  // none where this event's time is unknown
            guard age > Self.windowSeconds else { return }
            forgetOldest()
        }
    }

    private mutating func forgetOldest() {
        places.remove(ring[slot(head)].packet, ifItIs: Int32(truncatingIfNeeded: head))
        head += 1
    }

    private mutating func grow() { relay(size: ring.count * 2, from: head) }

    private mutating func renumber() {
        let base = head
        relay(size: ring.count, from: base)
        tail -= base
        head = 0
        places = FlatMap(minimumCapacity: count)
        for position in head..<tail { places.set(ring[slot(position)].packet, Int32(truncatingIfNeeded: position)) }
    }

    private mutating func relay(size: Int, from base: Int64) {
        let isRenumbering = size == ring.count
        var larger = Array(repeating: Entry.none, count: size)
        for position in head..<tail {
            let target = isRenumbering ? position - base : position
            larger[Int(target) & (size - 1)] = ring[slot(position)]
        }
        ring = larger
    }

    // MARK: Stored form

    /// Puts stored records back, in their order.
    mutating func restore(_ records: [Carry.Record]) {
        for record in records { append(Entry(record)) }
    }
}

extension MeshBatch.Stamp {
    mutating func take(_ verdict: SeenPackets.Verdict) {
        firstSequence = verdict.firstSequence
        isFirstReception = verdict.isFirstReception
        isFirstReadable = verdict.isFirstReadable
    }
}
