package import EventLog
import MeshViews
package import Meshtastic
import ProtobufWire

/// Reads packets that the index has found, many at a time, with one opener.
final class PacketReader {
    /// What a row has of a reception's event; a whole packet would be copied for each.
    private struct Decoded {
        let (from, to, id, port): (UInt32, UInt32, UInt32, UInt32)
        let opening: Opening
        let isDamaged: Bool
        let reception: PacketReception

        init(_ packet: DecodedPacket, _ header: EventHeader) {
            (from, to, id, port) = (packet.from, packet.to, packet.id, packet.port)
            (opening, isDamaged) = (packet.opening, packet.flags.contains(.isDamaged))
            reception = PacketReception(packet, header)
        }
    }

    private let ledger: Ledger
    private let opener: PacketOpener
    private var batch = PacketBatch()
    /// Receptions by their place among those of all packets: the next packets are read into the same memory.
    private var decoded: [Decoded?] = []

    /// - Parameter knowledge: an opener that has already read the keys; nil to read them.
    init(_ ledger: Ledger, _ knowledge: OpeningKnowledge? = nil) throws(LedgerError) {
        self.ledger = ledger
        opener = if let knowledge { knowledge.opener() } else { try ledger.opener() }
    }

    /// The packets in the given order; nil for one of which nothing is kept.
    ///
    /// - Parameters:
    ///   - channels: the titles that the walk has found.
    ///   - id: nil for that of each packet's first reception.
    func rows(_ packets: [PacketWalk.Found], _ channels: [String], id: UInt32? = nil) throws -> [PacketRow?] {
        var count = packets.reduce(0) { $0 + $1.receptions.count }
        decoded.removeAll(keepingCapacity: true)
        decoded.append(contentsOf: repeatElement(nil, count: count))
        var wanted: [(sequence: UInt64, place: Int)] = []
        wanted.reserveCapacity(count)
        // The oldest packet first: then they are nearly sorted.
        for packet in packets.reversed() {
            count -= packet.receptions.count
            for (index, reception) in packet.receptions.enumerated() { wanted.append((reception.sequence, count + index)) }
        }
        // In the order of the log each of its blocks is opened once.
        if !zip(wanted, wanted.dropFirst()).allSatisfy({ $0.sequence <= $1.sequence }) {
            wanted.sort { $0.sequence < $1.sequence }
        }
        var next = 0
        try forEachReception(at: wanted.map { EventSequence($0.sequence) }) { packet, header in
            while wanted[next].sequence < header.sequence.rawValue { next += 1 }
            decoded[wanted[next].place] = Decoded(packet, header)
        }
        var place = 0
        return packets.map { packet in
            defer { place += packet.receptions.count }
            return row(packet, place..<place + packet.receptions.count, channels, id)
        }
    }

    /// - Parameter places: of its receptions.
    private func row(
        _ packet: PacketWalk.Found, _ places: Range<Int>, _ channels: [String], _ id: UInt32?
    ) -> PacketRow? {
        guard let place = places.first(where: { decoded[$0].map { id == nil || $0.id == id } ?? false }),
            let first = decoded[place]
        else {
            return nil
        }
        var (readable, channel): (Decoded?, Int32) = (nil, -1)
        var receptions: [PacketReception] = []
        receptions.reserveCapacity(places.count)
        for (known, place) in zip(packet.receptions, places) {
            guard let found = decoded[place], found.id == first.id else { continue }
            if receptions.isEmpty || readable == nil && found.port != 0 { channel = known.channel }
            if readable == nil, found.port != 0 { readable = found }
            receptions.append(found.reception)
        }
        let shown = readable ?? first
        return PacketRow(
            from: first.from, to: first.to, id: first.id, port: shown.port,
            channel: channels.indices.contains(Int(channel)) ? channels[Int(channel)] : "", opening: shown.opening,
            isDamaged: shown.isDamaged, receptions: receptions, hasConflict: packet.hasTwin)
    }

    func receptions(at sequences: [EventSequence]) throws -> [PacketReception] {
        var found: [PacketReception] = []
        try forEachReception(at: sequences) { if !$0.isReplayedState { found.append(PacketReception($0, $1)) } }
        return found
    }

    /// Visits the packets of the events, opened. Skips events that hold no packet or whose content is gone.
    func forEachReception(at sequences: [EventSequence], _ body: (DecodedPacket, EventHeader) -> Void) throws {
        try ledger.forEachEvent(at: sequences) { header, payload in
            guard let form = CaptureForm(rawValue: header.encoding.rawValue) else { return }
            batch.removeAll(keepingCapacity: true)
            opener.decode(payload, form: form, into: &batch)
            guard let packet = batch.packets.first, packet.hasPacket, packet.opening != .invalid else { return }
            body(packet, header)
        }
    }
}

extension PacketRow {
    /// A packet of which one reception has come in.
    package init(_ packet: DecodedPacket, channel: String, _ reception: PacketReception) {
        self.init(
            from: packet.from, to: packet.to, id: packet.id, port: packet.port, channel: channel, opening: packet.opening,
            isDamaged: packet.flags.contains(.isDamaged), receptions: [reception])
    }
}

extension PacketReception {
    package init(_ packet: DecodedPacket, _ header: EventHeader) {
        self.init(
            sequence: header.sequence.rawValue, source: header.source, arrival: header.arrivalTime, rxTime: packet.rxTime,
            heard: header.heard(rxTime: packet.rxTime), heardSource: header.heardSource(rxTime: packet.rxTime),
            gateway: packet.gateway, snr: packet.rxSNR, rssi: packet.hasRSSI ? packet.rxRSSI : nil, hopsAway: packet.hopsAway,
            relayNode: packet.relayNode, isViaMQTT: packet.flags.contains(.viaMQTT), isReplayedState: packet.isReplayedState)
    }
}
