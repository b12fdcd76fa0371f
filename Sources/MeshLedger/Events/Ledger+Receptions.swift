public import EventLog
import LMDB
import MeshViews
package import Meshtastic
import Projections
import ProtobufWire

extension Ledger {
    /// The receptions of a packet, with signal values, in the order in which they arrived.
    ///
    /// - Parameter sender: ids recur, and other nodes use the same ones; nil for those of all nodes.
    public func receptions(of id: UInt32, from sender: UInt32? = nil) throws(LedgerError) -> [PacketReception] {
        let sequences = try sequences(of: Self.selection(id, sender))
        do {
            return try PacketReader(self).receptions(at: sequences).map(\.reception)
        } catch {
            throw LedgerError(error, path: path)
        }
    }

    /// The packets with an id, the first one first, each with all of its receptions: ids recur, other nodes use the same ones, and some are forged.
    ///
    /// - Parameter sender: nil for those of all nodes.
    public func packets(withID id: UInt32, from sender: UInt32? = nil) throws(LedgerError) -> [PacketRow] {
        let selection = Self.selection(id, sender)
        let sequences = try sequences(of: selection)
        guard let first = sequences.min(), let last = sequences.max() else { return [] }
        return try packets(selection, in: first...last).reversed()
    }

    private static func selection(_ id: UInt32, _ sender: UInt32?) -> EventSelection {
        var selection = EventSelection(node: sender, roles: sender == nil ? .any : .sender, packetID: id)
        selection.withoutRepeats = true
        return selection
    }

    /// The packets of a selection, the newest first, each with all of its receptions.
    ///
    /// - Parameters:
    ///   - selection: must match at least one of the receptions.
    ///   - range: the receptions to examine; a packet that begins before it lacks the earlier ones.
    public func packets(
        _ selection: EventSelection = EventSelection(), in range: ClosedRange<EventSequence>? = nil, limit: Int = .max,
        offset: Int = 0
    ) throws(LedgerError) -> [PacketRow] {
        guard limit > 0 else { return [] }
        var (rows, skips) = ([PacketRow](), max(0, offset))
        try forEachPacket(selection, in: range, skipping: selection.packetID == nil ? skips : 0) { row in
            if selection.packetID != nil, skips > 0 {
                skips -= 1
                return true
            }
            rows.append(row)
            return rows.count < limit
        }
        return rows
    }

    /// Visits the packets of a selection, the newest first, until `visitor` returns false; no read transaction is open while it runs.
    ///
    /// - Parameters:
    ///   - range: as in `packets`.
    ///   - skips: how many packets of the index to leave out first.
    public func forEachPacket(
        _ selection: EventSelection = EventSelection(), in range: ClosedRange<EventSequence>? = nil, skipping skips: Int = 0,
        _ visitor: (PacketRow) -> Bool
    ) throws(LedgerError) {
        do {
            let reader = try PacketReader(self)
            var skips = skips
            try forEachFound(selection, range) { found in
                if skips > 0 {
                    skips -= 1
                    return true
                }
                return try reader.packet(found, id: selection.packetID).map(visitor) ?? true
            }
        } catch {
            throw LedgerError(error, path: path)
        }
    }

    /// Walks back through the index and passes the receptions of each packet when its first one is reached.
    private func forEachFound(
        _ selection: EventSelection, _ range: ClosedRange<EventSequence>?, _ body: (PacketWalk.Found) throws -> Bool
    ) throws {
        let (store, last) = try packetIndex()
        let lower = max(range?.lowerBound.rawValue ?? 1, log.first.rawValue)
        let upper = min(range?.upperBound.rawValue ?? .max, last, try store.checkpoint().sequence)
        guard lower <= upper else { return }
        var walk = PacketWalk(selection, lower...upper)
        var number = PacketBlock.number(of: upper)
        while true {
            let groups = try block(number, of: store).map { walk.groups(in: $0.layout, number, $0.value.rawSpan) } ?? []
            for group in groups { guard try body(group) else { return } }
            guard number > PacketBlock.number(of: lower) else { break }
            number -= 1
        }
        for group in walk.rest() { guard try body(group) else { return } }
    }

    fileprivate func block(_ number: UInt64, of store: ViewStore) throws(StorageError) -> (
        layout: PacketBlockLayout, value: [UInt8]
    )? {
        let transaction = try store.environment.beginRead()
        guard let value = try transaction.get(store.table("packets"), PacketsView.key(number).rawSpan) else { return nil }
        guard let layout = PacketBlockLayout(value) else {
            throw StorageError(.malformedValue, call: "read a block of the index", path: store.path)
        }
        return (layout, value.asArray)
    }
}

/// Reads packets one after the other, with one opener and the last block of the index.
private final class PacketReader {
    private let ledger: Ledger
    private let opener: PacketOpener
    private var batch = PacketBatch()
    private var block: Block?

    private struct Block {
        let number: UInt64
        let layout: PacketBlockLayout
        let value: [UInt8]
        /// Read once: searching the block for one event reads what precedes it.
        var channels: [UInt64: String] = [:]

        init(_ number: UInt64, _ found: (layout: PacketBlockLayout, value: [UInt8])) {
            (self.number, layout, value) = (number, found.layout, found.value)
            PacketBlock(number: number, decoding: value.rawSpan)?.forEachEvent(in: 0...UInt64.max) {
                channels[$0.sequence] = $0.channel
            }
        }
    }

    init(_ ledger: Ledger) throws(LedgerError) {
        self.ledger = ledger
        opener = try ledger.opener()
    }

    /// - Parameter id: nil for that of the first one.
    func packet(_ packet: PacketWalk.Found, id: UInt32?) throws -> PacketRow? {
        let found = try receptions(at: packet.sequences.map { EventSequence($0) })
        guard let first = found.first(where: { id == nil || $0.packet.id == id }) else { return nil }
        let same = found.filter { $0.packet.id == first.packet.id }
        let readable = same.first { $0.packet.port != 0 } ?? first
        return PacketRow(
            from: first.packet.from, to: first.packet.to, id: first.packet.id, port: readable.packet.port,
            channel: try channel(ofEvent: readable.reception.sequence), opening: readable.packet.opening,
            isDamaged: readable.packet.flags.contains(.isDamaged), receptions: same.map(\.reception),
            hasConflict: packet.hasTwin)
    }

    private func channel(ofEvent sequence: UInt64) throws -> String {
        let number = PacketBlock.number(of: sequence)
        if block?.number != number { block = try ledger.block(number, of: ledger.packetIndex().store).map { Block(number, $0) } }
        guard let block else { return "" }
        return block.channels[sequence] ?? block.layout.channel(ofEvent: sequence, block: number, block.value.rawSpan)?.title
            ?? ""
    }

    func receptions(at sequences: [EventSequence]) throws -> [(packet: DecodedPacket, reception: PacketReception)] {
        var found: [(packet: DecodedPacket, reception: PacketReception)] = []
        try ledger.forEachEvent(at: sequences) { header, payload in
            guard let form = CaptureForm(rawValue: header.encoding.rawValue) else { return }
            batch.removeAll(keepingCapacity: true)
            opener.decode(payload, form: form, into: &batch)
            guard let packet = batch.packets.first, packet.hasPacket, packet.opening != .invalid else { return }
            found.append((packet, PacketReception(packet, header)))
        }
        return found
    }
}

extension Ledger {
    /// Opens stored packets with the present knowledge: with all keys, direct messages with those that nodes have announced.
    package func opener() throws(LedgerError) -> PacketOpener {
        guard !keyring.privateKeys.isEmpty else { return PacketOpener(keyring: keyring) }
        var all = RowQuery()
        all.includesArchived = true
        do throws(LedgerError) {
            let known = try nodes(all).filter { $0.publicKey.count == 32 }.map { ($0.number, $0.publicKey) }
            return PacketOpener(keyring: keyring, publicKeys: Dictionary(known) { $1 })
        } catch {
            // Without the view, which an erasure may have removed, direct messages stay closed: the rest is available nevertheless.
            guard [.beingBuilt, .notBuilt, .missing, .corrupt].contains(error.code) else { throw error }
            return PacketOpener(keyring: keyring)
        }
    }
}

extension PacketReception {
    fileprivate init(_ packet: DecodedPacket, _ header: EventHeader) {
        self.init(
            sequence: header.sequence.rawValue, source: header.source, arrival: header.arrivalTime, rxTime: packet.rxTime,
            heard: header.heard(rxTime: packet.rxTime), gateway: packet.gateway, snr: packet.rxSNR,
            rssi: packet.hasRSSI ? packet.rxRSSI : nil, hopsAway: packet.hopsAway,
            relayNode: packet.relayNode, isViaMQTT: packet.flags.contains(.viaMQTT))
    }
}
