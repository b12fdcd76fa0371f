import EventLog
import MeshViews
import Projections
import ProtobufWire

/// The packets at the beginning of an order that has the oldest first.
struct EarliestPackets {
    /// A place in the order: the time at which packets were heard, or the event with which they arrived.
    enum End {
        case heard(Timestamp)
        case arrived(EventSequence)
    }

    var rows: [PacketRow] = []
    /// Where the packets begin that are not among these; nil if these are all.
    var end: End?
}

extension Ledger {
    /// How many events are read for the packets at the beginning of an order.
    private static var earliestCount: Int { 256 }

    /// Finds the packets of the first events of an order. Their other receptions may be anywhere in the log: of the index, only blocks
    /// that have something with their senders and ids are walked.
    func earliestPackets(_ order: EventOrder) throws -> EarliestPackets {
        var events: [EventSequence] = []
        try forEachSequence(order) { part in
            events += part.prefix(Self.earliestCount - events.count)
            return events.count < Self.earliestCount
        }
        var earliest = EarliestPackets(end: events.count < Self.earliestCount ? nil : try end(of: order, at: events.last))
        let (found, channels) = try packets(of: Set(events.map(\.rawValue)), order)
        let packets = try PacketReader(self).ordered(found, channels, order).compactMap { packet -> (OrderPlace, PacketRow)? in
            let first = EventSequence(packet.found.receptions[0].sequence)
            let isBefore =
                switch earliest.end {
                case .heard(let time): packet.time > order.place(time)
                case .arrived(let event): first < event
                case nil: true
                }
            guard isBefore, let row = packet.row else { return nil }
            return (OrderPlace(time: packet.time, sequence: packet.sequence(order)), row)
        }
        earliest.rows = packets.sorted { $0.0 > $1.0 }.map(\.1)
        return earliest
    }

    private func end(of order: EventOrder, at event: EventSequence?) throws -> EarliestPackets.End? {
        guard let event else { return nil }
        guard order.clock == .heard else { return .arrived(event) }
        var end: EarliestPackets.End?
        try forEachEvent(at: [event], includesErased: true) { end = .heard(HeardReader().heard($0, $1)) }
        return end
    }

    /// The packets that have one of the events among their receptions.
    private func packets(
        of events: Set<UInt64>, _ order: EventOrder
    ) throws -> (found: [PacketWalk.Found], channels: [String]) {
        let (store, _) = try packetIndex()
        let (first, last) = (try firstEvent(of: order), try store.checkpoint().sequence)
        guard first <= last else { return ([], []) }
        var keys: Set<UInt64> = []
        for number in Set(events.map { PacketBlock.number(of: $0) }) {
            if let block = try block(number, of: store) {
                keys.formUnion(block.layout.packetKeys(of: events, number, in: block.value.rawSpan))
            }
        }
        var walk = PacketWalk(EventSelection(), first...last)
        var found: [PacketWalk.Found] = []
        func keep(_ packets: [PacketWalk.Found]) {
            found += packets.filter { $0.receptions.contains { events.contains($0.sequence) } }
        }
        for number in (PacketBlock.number(of: first)...PacketBlock.number(of: last)).reversed() {
            guard let block = try block(number, of: store), block.layout.hasPacket(of: keys, in: block.value.rawSpan) else {
                continue
            }
            keep(walk.groups(in: block.layout, number, block.value.rawSpan))
        }
        keep(walk.rest())
        return (found, walk.channels)
    }
}
