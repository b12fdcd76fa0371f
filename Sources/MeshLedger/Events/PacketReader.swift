package import EventLog
import MeshViews
package import Meshtastic
import ProtobufWire

/// Reads packets that the index has found, many at a time, with one opener.
final class PacketReader {
    private struct Decoded {
        let packet: DecodedPacket
        let reception: PacketReception
    }

    private let ledger: Ledger
    private let opener: PacketOpener
    private var batch = PacketBatch()

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
        var wanted: [(sequence: EventSequence, place: Int)] = []
        for packet in packets {
            for reception in packet.receptions { wanted.append((EventSequence(reception.sequence), wanted.count)) }
        }
        // In the order of the log each of its blocks is opened once.
        wanted.sort { $0.sequence < $1.sequence }
        var decoded = [Decoded?](repeating: nil, count: wanted.count)
        var next = 0
        try forEachReception(at: wanted.map(\.sequence)) { packet, header in
            while wanted[next].sequence < header.sequence { next += 1 }
            decoded[wanted[next].place] = Decoded(packet: packet, reception: PacketReception(packet, header))
        }
        var place = 0
        return packets.map { packet in
            defer { place += packet.receptions.count }
            return Self.row(packet, decoded[place..<place + packet.receptions.count], channels, id)
        }
    }

    private static func row(
        _ packet: PacketWalk.Found, _ decoded: ArraySlice<Decoded?>, _ channels: [String], _ id: UInt32?
    ) -> PacketRow? {
        guard let first = decoded.first(where: { $0.map { id == nil || $0.packet.id == id } ?? false }) ?? nil else { return nil }
        var (readable, channel): (Decoded?, Int32) = (nil, -1)
        var receptions: [PacketReception] = []
        receptions.reserveCapacity(decoded.count)
        for (known, found) in zip(packet.receptions, decoded) {
            guard let found, found.packet.id == first.packet.id else { continue }
            if receptions.isEmpty || readable == nil && found.packet.port != 0 { channel = known.channel }
            if readable == nil, found.packet.port != 0 { readable = found }
            receptions.append(found.reception)
        }
        let shown = (readable ?? first).packet
        return PacketRow(
            from: first.packet.from, to: first.packet.to, id: first.packet.id, port: shown.port,
            channel: channels.indices.contains(Int(channel)) ? channels[Int(channel)] : "", opening: shown.opening,
            isDamaged: shown.flags.contains(.isDamaged), receptions: receptions, hasConflict: packet.hasTwin)
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
