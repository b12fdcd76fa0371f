public import EventLog
import LMDB
package import MeshViews
package import Meshtastic
import Projections
import ProtobufWire

extension Ledger {
    /// The receptions of a packet, with signal values, in the order in which they arrived.
    ///
    /// - Parameter sender: ids recur, and other nodes use the same ones; nil for those of all nodes.
    /// - Throws: `.notBuilt` or `.beingBuilt` if the index of packets cannot be read yet, `.corrupt` at a damaged record, and errors of the file.
    public func receptions(of id: UInt32, from sender: UInt32? = nil) throws(LedgerError) -> [PacketReception] {
        let sequences = try sequences(of: Self.selection(id, sender))
        return try wrappingErrors { try PacketReader(self).receptions(at: sequences) }
    }

    /// The packets with an id, the first one first, each with all of its receptions: ids recur, other nodes use the same ones, and some are forged.
    ///
    /// - Parameter sender: nil for those of all nodes.
    /// - Throws: `.notBuilt` or `.beingBuilt` if the index of packets cannot be read yet, `.corrupt` at a damaged record, and errors of the file.
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
    ///   - selection: what at least one of the receptions must match.
    ///   - range: the receptions to examine; a packet that begins before it lacks the earlier ones.
    /// - Throws: `.notBuilt` or `.beingBuilt` if the index of packets cannot be read yet, `.corrupt` at a damaged record, and errors of the file.
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
    /// - Throws: `.notBuilt` or `.beingBuilt` if the index of packets cannot be read yet, `.corrupt` at a damaged record, and errors of the file.
    public func forEachPacket(
        _ selection: EventSelection = EventSelection(), in range: ClosedRange<EventSequence>? = nil, skipping skips: Int = 0,
        _ visitor: (PacketRow) -> Bool
    ) throws(LedgerError) {
        try forEachPacket(selection, in: range, skipping: skips, includesEarlier: true, where: { _ in true }, visitor)
    }

    /// The same of those that fit what the index has of them: others are not decoded.
    /// - Parameter includesEarlier: whether packets that begin before the range count, without their earlier receptions.
    package func forEachPacket(
        _ selection: EventSelection, in range: ClosedRange<EventSequence>?, skipping skips: Int = 0, includesEarlier: Bool,
        where fits: (PacketWalk.Found) -> Bool, _ visitor: (PacketRow) -> Bool
    ) throws(LedgerError) {
        try wrappingErrors {
            let reader = try PacketReader(self)
            var (skips, part, waiting) = (skips, EventParts(), [PacketWalk.Found]())
            var size = part.next()
            var goesOn = true
            func pass(_ channels: [String]) throws {
                for case .some(let row) in try reader.rows(waiting, channels, id: selection.packetID) where goesOn {
                    goesOn = visitor(row)
                }
                waiting.removeAll()
                size = part.next()
            }
            try forEachFound(selection, range, includesEarlier: includesEarlier) { found, walk in
                guard fits(found) else { return true }
                if skips > 0 {
                    skips -= 1
                    return true
                }
                waiting.append(found)
                if waiting.count == size { try pass(walk.channels) }
                return goesOn
            } atEnd: { walk in
                if goesOn { try pass(walk.channels) }
            }
        }
    }

    /// How many packets begin in a range of events, by whether they are readable and by channel; none is decoded.
    package func packetCounts(in range: ClosedRange<EventSequence>) throws -> [PacketCount: UInt64] {
        var counts: [PacketCount: UInt64] = [:]
        try forEachFound(EventSelection(), range, includesEarlier: false) { found, walk in
            guard let readable = found.readable else { return true }
            let channel = readable.channel < 0 ? "" : walk.channels[Int(readable.channel)]
            counts[PacketCount(from: 0, port: readable.port, channel: channel), default: 0] += 1
            return true
        } atEnd: { _ in
        }
        return counts
    }

    /// Walks back through the index and passes the receptions of each packet when its first one is reached.
    private func forEachFound(
        _ selection: EventSelection, _ range: ClosedRange<EventSequence>?, includesEarlier: Bool = true,
        _ body: (PacketWalk.Found, PacketWalk) throws -> Bool, atEnd: (PacketWalk) throws -> Void
    ) throws {
        let (store, last) = try packetIndex()
        let lower = max(range?.lowerBound.rawValue ?? 1, log.first.rawValue)
        let upper = min(range?.upperBound.rawValue ?? .max, last, try store.checkpoint().sequence)
        guard lower <= upper else { return }
        var walk = PacketWalk(selection, lower...upper)
        // All receptions of a packet have its id and sender. Of packets without an id there are too many.
        var known = try selection.packetID.flatMap { $0 == 0 ? nil : $0 }.map { id in
            let sender = selection.roles == .sender ? selection.node : nil
            let ofPacket = EventSelection(node: sender, roles: sender == nil ? .any : .sender, packetID: id)
            let found = try sequences(of: ofPacket, in: EventSequence(lower)...EventSequence(upper))
            return Set(found.map { PacketBlock.number(of: $0.rawValue) }).sorted()
        }
        let least = PacketBlock.number(of: lower)
        var number = PacketBlock.number(of: upper) + 1
        func next() -> UInt64? {
            if known != nil { return known?.popLast() }
            guard number > least else { return nil }
            number -= 1
            return number
        }
        while let number = next() {
            let groups = try block(number, of: store).map { walk.groups(in: $0.layout, number, $0.value.rawSpan) } ?? []
            for group in groups { guard try body(group, walk) else { return } }
        }
        if includesEarlier { for group in walk.rest() { guard try body(group, walk) else { return } } }
        try atEnd(walk)
    }

    /// The sender and id of the packet in an event; nil for an event without one, or that is not kept.
    package func packetName(at sequence: EventSequence) throws(LedgerError) -> PacketName? {
        var names = PacketNames(log)
        return try wrappingErrors { try names.name(at: sequence) }
    }

    /// Walks back through the index as far as events after `cut` may replace rows.
    func supersededRows(of node: UInt32, after cut: UInt64, through last: UInt64) throws -> SupersededRows {
        let (store, _) = try packetIndex()
        var rows = SupersededRows(of: node, after: cut)
        guard last > cut else { return rows }
        var number = PacketBlock.number(of: last)
        while true {
            let events = PacketBlock.events(ofBlock: number)
            if rows.isComplete(before: events.upperBound) { break }
            if let (layout, value) = try block(number, of: store) {
                rows.collect(from: layout, number, through: last, value.rawSpan)
            }
            guard number > 0 else { break }
            number -= 1
        }
        return rows
    }

    func block(_ number: UInt64, of store: ViewStore) throws(StorageError) -> (
        layout: PacketBlockLayout, value: [UInt8]
    )? {
        let transaction = try store.environment.beginRead()
        guard let value = try transaction.get(store.table("packets"), EventIndex.key(number).rawSpan) else { return nil }
        guard let layout = PacketBlockLayout(value) else {
            throw StorageError(.malformedValue, call: "read a block of the index", path: store.path)
        }
        return (layout, value.asArray)
    }
}

/// The keys with which stored packets are opened now.
package struct OpeningKnowledge: Sendable {
    fileprivate let keyring: Keyring
    fileprivate var publicKeys: [UInt32: [UInt8]] = [:]

    package func opener() -> PacketOpener { PacketOpener(keyring: keyring, publicKeys: publicKeys) }
}

extension Ledger {
    /// Opens stored packets with what is known now: with all keys, and direct messages with those that nodes have announced.
    package func opener() throws(LedgerError) -> PacketOpener { try openingKnowledge().opener() }

    /// - Parameter keyring: the keys; nil for the ledger's.
    package func openingKnowledge(with keyring: Keyring? = nil) throws(LedgerError) -> OpeningKnowledge {
        let keyring = keyring ?? keys.keyring
        var knowledge = OpeningKnowledge(keyring: keyring)
        guard !keyring.privateKeys.isEmpty else { return knowledge }
        var all = RowQuery()
        all.includesArchived = true
        do throws(LedgerError) {
            let known = try nodes(all).filter { $0.publicKey.count == 32 }.map { ($0.number, $0.publicKey) }
            knowledge.publicKeys = Dictionary(known) { $1 }
        } catch {
            // Without the view, which an erasure may have removed, direct messages stay unreadable; the rest is still available.
            guard [.beingBuilt, .notBuilt, .missing, .corrupt].contains(error.code) else { throw error }
        }
        return knowledge
    }
}
