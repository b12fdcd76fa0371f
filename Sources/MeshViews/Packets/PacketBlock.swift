import FlatCollections
import Projections
import ProtobufWire

/// The nodes, packets, gateways, channels and ports of 16,384 consecutive events, while the block is being filled.
///
/// Several receptions of a packet share an entry. `FOLD.md` has the rules, `PacketBlock+Coding.swift` the bytes.
package struct PacketBlock: Sendable {
    static let eventCount: UInt64 = 16_384

    /// What the receptions of a packet have in common.
    struct Entry: Sendable, Equatable {
        /// Index of the sender in `nodes`.
        var sender: Int32
        /// See `PacketMark`.
        var mark: UInt32
        /// Index into `kinds`.
        var kind: Int32
        /// The range of its nodes in `named`, which are indexes into `nodes`.
        var firstNamed: Int32
        var namedCount: Int32
    }

    struct Event: Sendable {
        var entry: Int32
        /// Index into `gateways` plus one; 0 without a gateway.
        var gateway: Int32
        var flags: EventFlags
    }

    /// The block's number: its first event is number × 16,384 + 1.
    private(set) var number: UInt64
    /// Events at the block's start that the view has never seen.
    var skipped: Int
    /// The latest reception, or arrival where the reception was not recorded, in seconds since 1970; nil where an earlier version has not kept it.
    private(set) var latestTime: UInt32? = 0
    var nodes: [UInt32] = []
    var gateways: [Int32] = []
    var channels: [ChannelIdentity] = []
    var kinds: [PacketKind] = []
    var entries: [Entry] = []
    var named: [Int32] = []
    var events: [Event] = []
    private var nodePlaces = FlatMap(minimumCapacity: 256)
    private var gatewayPlaces = FlatMap()
    private var channelPlaces: [ChannelIdentity: Int32] = [:]
    private var kindPlaces = FlatMap()
    private var entryPlaces = FlatMap(minimumCapacity: 1_024)

    init(number: UInt64, skipped: Int = 0, latestTime: UInt32? = 0) {
        (self.number, self.skipped, self.latestTime) = (number, skipped, latestTime)
    }

    /// Begins another block in the memory of this one: allocating memory costs more than filling it.
    mutating func begin(number: UInt64, skipped: Int) {
        // Memory from a flood of named nodes is released.
        guard nodes.count <= Int(Self.eventCount) else {
            self = PacketBlock(number: number, skipped: skipped)
            return
        }
        (self.number, self.skipped, latestTime) = (number, skipped, 0)
        nodes.removeAll(keepingCapacity: true)
        gateways.removeAll(keepingCapacity: true)
        channels.removeAll(keepingCapacity: true)
        kinds.removeAll(keepingCapacity: true)
        entries.removeAll(keepingCapacity: true)
        named.removeAll(keepingCapacity: true)
        events.removeAll(keepingCapacity: true)
        nodePlaces.removeAll()
        gatewayPlaces.removeAll()
        channelPlaces.removeAll()
        kindPlaces.removeAll()
        entryPlaces.removeAll()
    }

    var firstSequence: UInt64 { number * Self.eventCount + 1 }
    /// The sequence that the next event must have.
    var nextSequence: UInt64 { firstSequence + UInt64(skipped + events.count) }
    var isFull: Bool { skipped + events.count == Int(Self.eventCount) }

    package static func number(of sequence: UInt64) -> UInt64 { (sequence - 1) / eventCount }

    package static func events(ofBlock number: UInt64) -> ClosedRange<UInt64> {
        number * eventCount + 1...(number + 1) * eventCount
    }

    // MARK: Adding

    @inline(__always)
    mutating func place(ofNode node: UInt32) -> Int32 {
        if let known = nodePlaces[UInt64(node)] { return known }
        let place = Int32(nodes.count)
        nodes.append(node)
        nodePlaces.set(UInt64(node), place)
        return place
    }

    @inline(__always)
    private mutating func place(ofGateway node: UInt32) -> Int32 {
        if let known = gatewayPlaces[UInt64(node)] { return known }
        let place = Int32(gateways.count)
        gateways.append(self.place(ofNode: node))
        gatewayPlaces.set(UInt64(node), place)
        return place
    }

    mutating func place(of channel: ChannelIdentity) -> Int32 {
        if let known = channelPlaces[channel] { return known }
        let place = Int32(channels.count)
        channels.append(channel)
        channelPlaces[channel] = place
        return place
    }

    @inline(__always)
    mutating func place(of kind: PacketKind) -> Int32 {
        if let known = kindPlaces[kind.mapKey] { return known }
        let place = Int32(kinds.count)
        kinds.append(kind)
        kindPlaces.set(kind.mapKey, place)
        return place
    }

    /// Touches the place of a packet's entry: doing so for many packets at once waits for memory once.
    ///
    /// - Returns: a number without meaning, to be stored so that the compiler keeps the reads.
    @inline(__always)
    func prefetch(sender: UInt32, mark: UInt32) -> UInt64 { entryPlaces.prefetch(at: PacketMark.key(sender, mark)) }

    /// Records when an event was received, or when it arrived.
    @inline(__always)
    mutating func note(_ time: UInt32) {
        if let latest = latestTime, time > latest { latestTime = time }
    }

    /// Adds an event: a reception of a packet, or any other event with a sender and an id of 0.
    /// - Parameters:
    ///   - mark: that of the packet's id.
    ///   - gateway: 0 if unknown.
    @inline(__always)
    mutating func add(
        sender: UInt32, mark: UInt32, kind: Int32, named: [UInt32], gateway: UInt32, flags: EventFlags
    ) {
        let place = place(ofNode: sender)
        let key = PacketMark.key(sender, mark)
        let event = Event(entry: 0, gateway: gateway == 0 ? 0 : self.place(ofGateway: gateway) + 1, flags: flags)
        if let known = entryPlaces[key], entries[Int(known)].kind == kind, isSame(entries[Int(known)], named) {
            events.append(event)
            events[events.count - 1].entry = known
            return
        }
        let entry = Int32(entries.count)
        let first = Int32(self.named.count)
        for node in named { self.named.append(self.place(ofNode: node)) }
        entries.append(
            Entry(sender: place, mark: mark, kind: kind, firstNamed: first, namedCount: Int32(self.named.count) - first))
        entryPlaces.set(key, entry)
        events.append(event)
        events[events.count - 1].entry = entry
    }

    private func isSame(_ entry: Entry, _ named: [UInt32]) -> Bool {
        guard Int(entry.namedCount) == named.count else { return false }
        for index in named.indices where nodes[Int(self.named[Int(entry.firstNamed) + index])] != named[index] { return false }
        return true
    }

    /// Rebuilds the lookup tables of places.
    mutating func findPlaces() {
        for (place, node) in nodes.enumerated() { nodePlaces.set(UInt64(node), Int32(place)) }
        for (place, gateway) in gateways.enumerated() { gatewayPlaces.set(UInt64(nodes[Int(gateway)]), Int32(place)) }
        for (place, channel) in channels.enumerated() { channelPlaces[channel] = Int32(place) }
        for (place, kind) in kinds.enumerated() { kindPlaces.set(kind.mapKey, Int32(place)) }
        for (place, entry) in entries.enumerated() {
            entryPlaces.set(PacketMark.key(nodes[Int(entry.sender)], entry.mark), Int32(place))
        }
    }
}

/// The sequential stage's results for an event.
struct EventFlags: OptionSet, Sendable {
    var rawValue: UInt8
    /// These two are stored with each event, the others with those that have any of them.
    static let stored: UInt8 = 3
    static let isFirstReception = EventFlags(rawValue: 1)
    /// A view with one row per packet has one of it: the first readable reception, or an earlier one than the last of these.
    static let makesRow = EventFlags(rawValue: 2)
    /// Exactly this reception is an earlier event.
    static let isRepeat = EventFlags(rawValue: 4)
    /// Another packet within the hour has the same sender and id. For the first reception of the later one.
    package static let hasTwin = EventFlags(rawValue: 8)
    /// How many packets of the same sender and mark began later than this one.
    /// Of a first reception with `hasTwin`: later than the other packet.
    private static let twinShift: UInt8 = 4

    static func laterTwins(_ count: UInt8) -> EventFlags {
        EventFlags(rawValue: min(count, SeenPackets.mostLaterTwins) << twinShift)
    }
    var laterTwins: UInt8 { rawValue >> Self.twinShift }
}

/// What many packets have in common.
struct PacketKind: Sendable, Hashable {
    struct Flags: OptionSet, Sendable, Hashable {
        var rawValue: UInt8
        /// The event holds a packet.
        static let hasPacket = Flags(rawValue: 1)
        /// Its port is known.
        static let isReadable = Flags(rawValue: 2)
        /// Its content breaks the wire format: it is no reception.
        static let isBroken = Flags(rawValue: 4)
        /// The first node that it names is its destination.
        static let hasAddressee = Flags(rawValue: 8)
        /// Its rows have the sender's time, however far that is from the reception.
        static let keepsTime = Flags(rawValue: 16)
    }

    /// Index into the block's channels; -1 without one.
    var channel: Int32
    /// 0 where it is unknown.
    var port: UInt32
    var flags: Flags

    /// An event without a packet.
    static let none = PacketKind(channel: -1, port: 0, flags: [])

    @inline(__always)
    var mapKey: UInt64 { UInt64(UInt32(bitPattern: channel &+ 1)) << 40 | UInt64(port) << 8 | UInt64(flags.rawValue) }
}
