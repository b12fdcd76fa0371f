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

    struct Entry {
        var record: UInt64
        var packet: UInt64
        var firstTime: UInt32
        var isReadable: Bool
        var firstSequence: UInt64
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

    init() {
        ring = Array(repeating: Entry(record: 0, packet: 0, firstTime: 0, isReadable: false, firstSequence: 0), count: 1_024)
        places = FlatMap(minimumCapacity: 1_024)
    }

    var count: Int { Int(tail - head) }

    /// Records below this are forgotten.
    var oldestRecord: UInt64 { head < tail ? ring[slot(head)].record : 0 }

    @inline(__always)
    private func slot(_ position: Int64) -> Int { Int(position) & (ring.count &- 1) }

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
                    var renewed = entry
                    renewed.record = sequence
                    renewed.isReadable = entry.isReadable || isReadable
                    if turnsTimed { renewed.firstTime = time }
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
        changes.append(Self.record(of: entry))
    }

    private mutating func append(_ entry: Entry) {
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
            guard count > Self.mostKept || age > Self.windowSeconds else { return }
            places.remove(oldest.packet, ifItIs: Int32(truncatingIfNeeded: head))
            head += 1
        }
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
        var larger = Array(
            repeating: Entry(record: 0, packet: 0, firstTime: 0, isReadable: false, firstSequence: 0), count: size)
        for position in head..<tail {
            let target = isRenumbering ? position - base : position
            larger[Int(target) & (size - 1)] = ring[slot(position)]
        }
        ring = larger
    }

    // MARK: Stored form

    private static func record(of entry: Entry) -> Carry.Record {
        let back = min(entry.record - entry.firstSequence, UInt64(UInt32.max >> 1))
        let flags = UInt64(UInt32(back) << 1 | (entry.isReadable ? 1 : 0))
        return Carry.Record(
            sequence: entry.record, first: entry.packet, second: UInt64(entry.firstTime) << 32 | flags)
    }

    /// Puts stored records back, in their order.
    mutating func restore(_ records: [Carry.Record]) {
        for record in records {
            let flags = UInt32(truncatingIfNeeded: record.second)
            append(
                Entry(
                    record: record.sequence, packet: record.first, firstTime: UInt32(truncatingIfNeeded: record.second >> 32),
                    isReadable: flags & 1 == 1, firstSequence: record.sequence &- UInt64(flags >> 1)))
        }
    }
}
