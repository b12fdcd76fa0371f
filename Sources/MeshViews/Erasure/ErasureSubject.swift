package import LMDB
package import Projections
import ProtobufWire

/// The rows that an erasure removes from the baselines of dropped events: those of a node, or of identifiable packets.
public enum ErasureSubject: Sendable, Hashable {
    case node(ErasedNode)
    case packet(ErasedPacket)

    /// Whether a view's rows are known well enough to remove the matching ones. Baselines of other views are removed completely for a node, and kept for a
    /// packet.
    package func knows(_ view: String) -> Bool {
        switch self {
        case .node: ErasedNode.views.contains(view)
        case .packet: true
        }
    }

    /// The view whose baseline `events` reads.
    package static let index = "packets"

    /// The dropped events of the packet, as the index of events in a baseline has them; none for a node.
    /// - Parameter file: of the index's baseline.
    package func events(inIndex file: String) throws -> Set<UInt64> {
        guard case .packet(let packet) = self else { return [] }
        var found: Set<UInt64> = []
        try BaselineCopy.forEach(Self.index, of: file) { (key, value) throws(StorageError) in
            found.formUnion(PacketBlock(number: UInt64(key.bigEndianUInt32(at: 0)), decoding: value)?.sequences(of: packet) ?? [])
        }
        return found
    }

    /// Copies a view's baseline without the erased rows.
    /// - Parameter events: what `events` found.
    /// - Returns: whether anything was left out.
    package func leave(_ copy: BaselineCopy, of view: String, events: Set<UInt64>) throws(StorageError) -> Bool {
        switch self {
        case .node(let node):
            try node.leave(copy, of: view)
            return true
        case .packet(let packet): return try packet.leave(copy, of: view, events)
        }
    }
}

/// A packet whose rows are removed from the baselines: messages, positions, telemetry, sensors, waypoints that it changed last, trace routes, map reports,
/// what it changed in a node's history, what was kept of such rows when they were archived, its entries in the index, and what the fold remembers of it. Its
/// contributions to rows of nodes, links, gateways, channels and hardware cannot be separated from the others, and rows of custom views are not known.
public struct ErasedPacket: Sendable, Hashable {
    public var id: UInt32
    /// Nil matches any.
    public var sender: UInt32?

    public init(id: UInt32, sender: UInt32? = nil) {
        self.id = id
        self.sender = sender
    }

    /// The tables of series, each with its table of counts: their keys end in time and sequence, and the second field of a row is its packet.
    private static let series: [String: [(rows: String, counts: String)]] = [
        "positions": [("positions", "counts")], "sensors": [("sensors", "counts")],
        "telemetry": [("telemetry", "counts"), ("unknown_telemetry", "unknown_counts")], "messages": [("messages", "counts")],
        "nodehistory": [("nodehistory", "counts")],
    ]

    /// Tables whose rows belong to one packet each, or hold separable parts of several.
    private static let own: [String: Set<String>] = [
        "messages": ["messages", "counts", "packets", "waiting"], "positions": ["positions", "counts"],
        "telemetry": ["telemetry", "counts", "unknown_telemetry", "unknown_counts"], "sensors": ["sensors", "counts"],
        "waypoints": ["waypoints"], "traceroutes": ["traceroutes"], "mapreports": ["mapreports"],
        "nodehistory": ["nodehistory", "counts", "identities"], ErasureSubject.index: [ErasureSubject.index],
        ArchivedRow.view: [ArchivedRow.table],
    ]

    /// Tables to whose rows many packets contribute, or none.
    private static let mixed: [String: Set<String>] = [
        "nodes": ["nodes", NodeMarks.table, "channels", ArchiveFlag.table], "messages": ["channels", ArchiveFlag.table],
        "positions": [FavoriteCaps.table], "telemetry": [FavoriteCaps.table], "sensors": [FavoriteCaps.table],
        "traceroutes": ["places"], "links": ["links"], "gateways": ["gateways", "gateway_nodes"],
        "nodehistory": ["hardware", "radio_nodes"], "radios": ["radios", "counts", "last"],
        ErasureSubject.index: [HeardTimes.table],
        ArchivedRow.view: [ReferenceRow.table, DecisionsView.firstTable],
    ]

    /// Whether it is known which rows of a view's table belong to a packet.
    static func isDeclared(_ table: String, of view: String) -> Bool {
        ViewStore.Name.all.contains(table) || [ViewStore.Name.changes, ViewStore.Name.marks].contains(table)
            || own[view]?.contains(table) ?? false || mixed[view]?.contains(table) ?? false
    }

    /// Copies a view's baseline without the packet's data.
    /// - Throws: `.misuse` for a table of a built-in view that is not declared; nothing is erased then.
    func leave(_ copy: BaselineCopy, of view: String, _ events: Set<UInt64>) throws(StorageError) -> Bool {
        for table in try copy.tableNames() where ErasedNode.views.contains(view) && !Self.isDeclared(table, of: view) {
            throw StorageError(
                .misuse, call: "it is not declared which rows of \(view)/\(table) are of a packet", path: copy.path)
        }
        var isFound = false
        var gone: [String: [[UInt8]: UInt64]] = [:]
        for (rows, counts) in Self.series[view] ?? [] {
            try copy.forEach(rows) { (key, value) throws(StorageError) in
                if isOfPacket(view, rows, key, value, events) {
                    gone[counts, default: [:]][Array(key.asArray.dropLast(12)), default: 0] += 1
                }
            }
        }
        for name in try copy.tableNames() {
            try copy.copy(name) { (key, value) throws(StorageError) in
                if let counts = gone[name] {
                    guard let count = counts[key.asArray] else { return value.asArray }
                    let stored = value.bigEndianUInt64(at: 0)
                    return stored > count ? bigEndian(stored - count) : nil
                }
                // Readers of changes start again with all rows.
                if name == ViewStore.Name.changes || name == ViewStore.Name.marks { return nil }
                let isGone = isOfPacket(view, name, key, value, events)
                let left = isGone ? nil : withoutParts(view, name, key, value, events)
                isFound = isFound || left != value.asArray
                return left
            }
        }
        try copy.finish()
        return isFound
    }

    /// A value that holds parts of several packets, without those of this one; nil if nothing is left.
    private func withoutParts(
        _ view: String, _ table: String, _ key: RawSpan, _ value: RawSpan, _ events: Set<UInt64>
    ) -> [UInt8]? {
        if StageState.recordSizes[table] != nil {
            return StageState.run(value, of: table) { !isOf($0.bigEndianUInt32(at: 12), $0.bigEndianUInt32(at: 8)) }
        }
        let number = UInt64(key.bigEndianUInt32(at: 0))
        guard view == ErasureSubject.index, table == ErasureSubject.index,
            events.contains(where: { PacketBlock.number(of: $0) == number }),
            let block = PacketBlock(number: number, decoding: value)
        else { return value.asArray }
        return block.without(events).encoded()
    }

    private func isOf(_ id: UInt32, _ node: UInt32) -> Bool { id == self.id && node == sender ?? node }

    private func isOfPacket(
        _ view: String, _ table: String, _ key: RawSpan, _ value: RawSpan, _ events: Set<UInt64>
    ) -> Bool {
        switch (view, table) {
        case ("messages", "messages"): return MessageRow(key: key, value: value).map { isOf($0.id, $0.from) } ?? false
        case ("messages", "packets"), ("messages", "waiting"):
            return key.byteCount >= 8 && isOf(key.bigEndianUInt32(at: 4), key.bigEndianUInt32(at: 0))
        case ("positions", "positions"), ("sensors", "sensors"), ("telemetry", "telemetry"), ("telemetry", "unknown_telemetry"):
            return key.byteCount >= 16 && isOf(Self.packet(value), key.bigEndianUInt32(at: 0))
        case ("waypoints", "waypoints"):
            return WaypointRow.decode(key: key, value: value).map { isOf($0.packetID, $0.from) } ?? false
        case ("traceroutes", "traceroutes"):
            return TraceRouteRow.decode(key: key, value: value).map { isOf($0.id, $0.from) || isOf($0.replyID, $0.to) } ?? false
        case ("mapreports", "mapreports"):
            return MapReportRow.decode(key: key, value: value).map { events.contains($0.sequence) } ?? false
        case (ArchivedRow.view, ArchivedRow.table):
            return ArchivedRow(key: key, value: value)?.packets.contains { isOf($0.id, $0.from) } ?? false
        case ("nodehistory", "nodehistory"): return key.byteCount >= 16 && events.contains(key.bigEndianUInt64(at: 8))
        case ("nodehistory", "identities"):
            return NodeIdentity.decode(key: key, value: value).map { events.contains($0.keySequence) } ?? false
        default: return false
        }
    }

    /// The second field of a row of a series; 0 if it cannot be read.
    private static func packet(_ value: RawSpan) -> UInt32 {
        var reader = WireReader(value)
        do {
            while let field = try reader.next() { if field.number == 2 { return field.asUInt32 } }
        } catch {
            return 0
        }
        return 0
    }
}
