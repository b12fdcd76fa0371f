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

    /// Copies a view's baseline without the erased rows.
    /// - Returns: whether anything was left out.
    package func leave(_ copy: BaselineCopy, of view: String) throws(StorageError) -> Bool {
        switch self {
        case .node(let node):
            try node.leave(copy, of: view)
            return true
        case .packet(let packet): return try packet.leave(copy, of: view)
        }
    }
}

/// A packet whose rows are removed from the baselines: messages, positions, telemetry, sensors, waypoints that it changed last, and trace routes. Its
/// contributions to rows of nodes, links, gateways and radios cannot be separated from the others.
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
    ]

    func leave(_ copy: BaselineCopy, of view: String) throws(StorageError) -> Bool {
        var isFound = false
        var gone: [String: [[UInt8]: UInt64]] = [:]
        for (rows, counts) in Self.series[view] ?? [] {
            try copy.forEach(rows) { (key, value) throws(StorageError) in
                if isOfPacket(view, rows, key, value) {
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
                guard isOfPacket(view, name, key, value) else { return value.asArray }
                isFound = true
                return nil
            }
        }
        try copy.finish()
        return isFound
    }

    private func isOf(_ id: UInt32, _ node: UInt32) -> Bool { id == self.id && node == sender ?? node }

    private func isOfPacket(_ view: String, _ table: String, _ key: RawSpan, _ value: RawSpan) -> Bool {
        switch (view, table) {
        case ("messages", "messages"): return MessageRow.decode(key: key, value: value).map { isOf($0.id, $0.from) } ?? false
        case ("messages", "packets"), ("messages", "waiting"):
            return key.byteCount >= 8 && isOf(key.bigEndianUInt32(at: 4), key.bigEndianUInt32(at: 0))
        case ("positions", "positions"), ("sensors", "sensors"), ("telemetry", "telemetry"), ("telemetry", "unknown_telemetry"):
            return key.byteCount >= 16 && isOf(Self.packet(value), key.bigEndianUInt32(at: 0))
        case ("waypoints", "waypoints"):
            return WaypointRow.decode(key: key, value: value).map { isOf($0.packetID, $0.from) } ?? false
        case ("traceroutes", "traceroutes"):
            return TraceRouteRow.decode(key: key, value: value).map { isOf($0.id, $0.from) || isOf($0.replyID, $0.to) } ?? false
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
