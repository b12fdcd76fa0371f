import EventLog
import MeshViews
import Projections
import ProtobufWire

extension Ledger {
    /// Visits the packets of an order, each with all of its receptions, until `visitor` returns false. A packet was heard when its first receiver heard it, and
    /// arrived with the first reception that came in.
    ///
    /// The index is walked from its newest block to the oldest, while packets are decoded on other threads. By when they were heard, a packet waits
    /// until no older block can have one that comes before it: at most a block in a log that was filled live, but possibly many after imports out of
    /// order, which then wait as numbers. With the oldest first, the index is walked once before, while the packets of the first few hundred events
    /// are already passed on.
    ///
    /// - Throws: `.beyondRetention` if retention drops events meanwhile that are still to be read.
    package func forEachPacket(_ order: EventOrder, _ visitor: (PacketRow) throws -> Bool) throws {
        let kept = try KeptEvents(of: self, in: order)
        var goesOn = true
        try forEachKeptPacket(order) { row in
            goesOn = try visitor(row)
            return goesOn
        }
        if goesOn { try kept.requireAll() }
    }

    private func forEachKeptPacket(_ order: EventOrder, _ visitor: (PacketRow) throws -> Bool) throws {
        guard !order.newestFirst, order.selection ?? EventSelection() == EventSelection(), past == nil else {
            return try forEachPacketOfBlocks(order, visitor)
        }
        let earliest = try earliestPackets(order)
        for row in earliest.rows { guard try visitor(row) else { return } }
        switch earliest.end {
        case .heard(let time):
            var order = order
            order.since = time
            try forEachPacketOfBlocks(order, visitor)
        case .arrived(let event):
            try forEachPacketOfBlocks(order) { try $0.firstSequence < event.rawValue || visitor($0) }
        case nil: return
        }
    }

    private func forEachPacketOfBlocks(_ order: EventOrder, _ visitor: (PacketRow) throws -> Bool) throws {
        var finder = try PacketFinder(self, order)
        let knowledge = try openingKnowledge()
        let readers = try Workers(count: 3) { () throws(LedgerError) in try PacketReader(self, knowledge) }
        var open = OrderedRuns<OrderedPacket>()
        var run: [(place: OrderPlace, item: OrderedPacket)] = []
        var ahead = WorkAhead<[OrderedPacket], any Error>()
        var ends: [Int64?] = []
        defer { ahead.drop() }
        /// Passes packets on; some that waited are read once more.
        func pass(_ packets: [OrderedPacket]) throws -> Bool {
            let dropped = packets.filter { !$0.hasRow }.map(\.found)
            let again = dropped.isEmpty ? [] : try readers.with { try $0.rows(dropped, finder.channels) }
            var next = 0
            for packet in packets {
                if let row = packet.row {
                    guard try visitor(row) else { return false }
                    continue
                }
                if let row = again[next] { guard try visitor(row) else { return false } }
                next += 1
            }
            return true
        }
        func passAll(above bound: Int64?) throws -> Bool {
            while true {
                let taken = open.take(above: bound, most: 1_024)
                guard !taken.isEmpty else { return true }
                guard try pass(taken) else { return false }
            }
        }
        while true {
            while ahead.count < 6, let part = try finder.next() {
                let channels = finder.channels
                ends.append(part.bound)
                ahead.append { Result { try readers.with { try $0.ordered(part.packets, channels, order) } } }
            }
            guard ahead.count > 0 else { break }
            let bound = ends.removeFirst()
            let packets = try ahead.removeFirst().get()
            if order.clock == .arrival {
                guard try pass(packets) else { return }
                continue
            }
            for packet in packets { run.append((OrderPlace(time: packet.time, sequence: packet.sequence(order)), packet)) }
            guard let bound else { continue }
            run.reverse()
            let count = run.count
            open.add(run)
            run = []
            run.reserveCapacity(count)
            guard try passAll(above: bound) else { return }
            if open.count > 32_768 { open.update { $0.dropRow() } }
        }
        run.reverse()
        open.add(run)
        _ = try passAll(above: nil)
    }

    /// The first event of which an order has packets: by arrival, a packet begins with its first reception within the times.
    func firstEvent(of order: EventOrder) throws -> UInt64 {
        let first = log.first.rawValue
        guard order.clock == .arrival, let run = try log.runs(arrivedFrom: order.since, before: order.until).first else {
            return first
        }
        return max(first, run.lowerBound.rawValue)
    }

    /// How many packets a selection has; nil if counting would take longer than that.
    package func packetCount(_ selection: EventSelection?, within time: Duration) throws -> UInt64? {
        if selection ?? EventSelection() == EventSelection(), let count = try markedPacketCount() { return count }
        let end = ContinuousClock.now + time
        var finder = try PacketFinder(self, EventOrder(by: .arrival, selection))
        var count: UInt64 = 0
        while let part = try finder.next() {
            count += UInt64(part.packets.count)
            if ContinuousClock.now > end { return nil }
        }
        return count
    }

    /// How many packets there are, by the index's marks of their first receptions; nil where some of them may be dropped, or are not of a packet.
    private func markedPacketCount() throws -> UInt64? {
        let (store, last) = try packetIndex()
        let head = try store.checkpoint().sequence
        guard head > 0, last >= head, log.first.rawValue == 1 else { return nil }
        var count: UInt64 = 0
        for number in 0...PacketBlock.number(of: head) {
            guard let block = try block(number, of: store) else { continue }
            guard let packets = block.layout.packetCount(in: block.value.rawSpan) else { return nil }
            count += UInt64(packets)
        }
        return count
    }

    /// How many packets there are of each sender, port and channel, by the index alone: none is decoded.
    package func packetCounts() throws -> [PacketCount: UInt64] {
        struct Key: Hashable {
            var from: UInt32
            var channel: Int32
            var port: UInt32?
        }
        var finder = try PacketFinder(self, EventOrder(by: .arrival))
        var counts: [Key: UInt64] = [:]
        while let part = try finder.next() {
            for packet in part.packets {
                guard let readable = packet.readable else { continue }
                counts[Key(from: packet.sender, channel: readable.channel, port: readable.port), default: 0] += 1
            }
        }
        return counts.reduce(into: [:]) { named, count in
            let channel = count.key.channel < 0 ? "" : finder.channels[Int(count.key.channel)]
            named[PacketCount(from: count.key.from, port: count.key.port, channel: channel), default: 0] += count.value
        }
    }
}

/// The index's data of many packets.
package struct PacketCount: Hashable, Sendable {
    package var from: UInt32
    /// Nil if they are not readable.
    package var port: UInt32?
    package var channel: String
}

extension PacketRow {
    /// A packet that represents all that are counted together.
    package init(of count: PacketCount) {
        self.init(
            from: count.from, to: 0, id: 0, port: count.port ?? 0, channel: count.channel,
            opening: count.port == nil ? .opaque : .decoded, isDamaged: false, receptions: [])
    }
}

/// A packet that waits for its turn.
struct OrderedPacket: Sendable {
    /// Shared by the copies of a packet, which is sorted and passed on several times.
    private final class Content: Sendable {
        let found: PacketWalk.Found
        let row: PacketRow?

        init(_ found: PacketWalk.Found, _ row: PacketRow?) { (self.found, self.row) = (found, row) }
    }

    private var content: Content
    let time: Int64

    init(_ found: PacketWalk.Found, time: Int64, _ row: PacketRow) {
        content = Content(found, row)
        self.time = time
    }

    var found: PacketWalk.Found { content.found }
    /// Nil if too many wait.
    var row: PacketRow? { content.row }
    /// The same without a copy of the row, which counts references.
    private(set) var hasRow = true

    mutating func dropRow() {
        guard hasRow else { return }
        (content, hasRow) = (Content(content.found, nil), false)
    }

    func sequence(_ order: EventOrder) -> UInt64 { order.place(found.receptions[0].sequence) }
}

extension PacketReader {
    func ordered(
        _ packets: [PacketWalk.Found], _ channels: [String], _ order: EventOrder
    ) throws -> [OrderedPacket] {
        var ordered: [OrderedPacket] = []
        ordered.reserveCapacity(packets.count)
        for (packet, row) in zip(packets, try rows(packets, channels, id: order.selection?.packetID)) {
            guard let row, let time = order.clock == .heard ? row.heard : row.receptions.first?.arrival, order.takes(time) else {
                continue
            }
            // The order of arrival is that of the log, whatever the clock did.
            let place = order.clock == .heard ? order.place(time) : 0
            ordered.append(OrderedPacket(packet, time: place, row))
        }
        return ordered
    }
}
