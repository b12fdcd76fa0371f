import Projections

/// One reception of a packet by a gateway: 40 bytes in memory, 32 as a view stores it.
struct HeardReception: Sendable {
    var sequence: UInt64 = 0
    var packet: UInt64 = 0
    var print: UInt32 = 0
    var gateway: UInt32 = 0
    /// The time of its row; 0 if it is unknown when it was heard.
    var time: UInt32 = 0
    /// How many sequences the packet's first reception precedes this one.
    fileprivate var back: UInt32 = 0
    /// The packet's previous reception; negative if there is none.
    fileprivate var older: Int64 = -1

    fileprivate init() {}

    init(_ hearing: SeenPackets.Hearing, firstSequence: UInt64) {
        (sequence, packet, print) = (hearing.sequence, hearing.packet, hearing.print.reception)
        (gateway, time) = (hearing.gateway, hearing.time == 0 ? 0 : hearing.rowTime)
        back = UInt32(clamping: hearing.sequence &- firstSequence)
    }

    var firstSequence: UInt64 { sequence &- UInt64(back) }

    init(_ stored: StageState.Reception) {
        (sequence, packet) = (stored.sequence, stored.first)
        (print, gateway) = (UInt32(truncatingIfNeeded: stored.second >> 32), UInt32(truncatingIfNeeded: stored.second))
        (time, back) = (UInt32(truncatingIfNeeded: stored.third >> 32), UInt32(truncatingIfNeeded: stored.third))
    }

    var stored: StageState.Reception {
        StageState.Reception(
            sequence: sequence, first: packet, second: UInt64(print) << 32 | UInt64(gateway),
            third: UInt64(time) << 32 | UInt64(back))
    }
}

/// The receivers of the remembered packets.
struct HeardReceptions: Sendable {
    static let alwaysKept = 32_768
    static let mostKept = 2_097_152
    /// How many receptions of a packet that keeps being received are compared.
    static let mostCompared = 256

    private var ring = RecentRing<HeardReception>(filler: HeardReception())

    var capacity: Int { ring.capacity }

    /// Receptions below this are dropped.
    var oldestRecord: UInt64 { ring.count > 0 ? ring[ring.head].sequence : 0 }

    /// Whether exactly this reception is known, and whether it is the first of its gateway.
    func find(_ hearing: SeenPackets.Hearing, from newest: Int64) -> (isRepeat: Bool, isFirstOfGateway: Bool) {
        var (position, steps, isFirst) = (newest, 0, true)
        while position >= 0, ring.holds(position), steps < Self.mostCompared {
            let known = ring[position]
            if known.gateway == hearing.gateway {
                isFirst = false
                if known.print == hearing.print.reception { return (true, false) }
            }
            (position, steps) = (known.older, steps + 1)
        }
        return (false, isFirst)
    }

    mutating func append(_ reception: HeardReception, older: Int64) -> Int64 {
        if ring.count == Self.mostKept { ring.removeFirst() }
        var reception = reception
        reception.older = older
        return ring.append(reception)
    }

    mutating func forget(at time: UInt32) {
        while ring.count > Self.alwaysKept {
            let oldest = ring[ring.head].time
            guard time > oldest, time - oldest > SeenPackets.windowSeconds else { return }
            ring.removeFirst()
        }
    }

    /// The receptions that precede this one in the list, the oldest first.
    func list(from newest: Int64, most: Int) -> [(gateway: UInt32, time: UInt32)] {
        var found: [(gateway: UInt32, time: UInt32)] = []
        var position = newest
        while position >= 0, ring.holds(position), found.count < most {
            found.append((ring[position].gateway, ring[position].time))
            position = ring[position].older
        }
        return found.reversed()
    }
}
