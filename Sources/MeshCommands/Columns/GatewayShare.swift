import EventLog
import MeshLedger
import MeshTables
import Meshtastic

/// What a gateway passed on, and how much of that no other gateway passed on.
struct GatewayShare {
    let gateway: UInt32
    var packets: UInt64 = 0
    var alone: UInt64 = 0
    /// The nodes whose packets it alone passed on.
    var nodes: Set<UInt32> = []
    var last: Timestamp?
    /// Whether that is only the time of an import.
    private var isTimeOfImport = false

    init(gateway: UInt32) { self.gateway = gateway }

    /// The shares of the packets that were first heard within the query's times; the gateway with the most packets that others missed comes first.
    static func all(_ query: RowQuery, in ledger: Ledger) throws -> [GatewayShare] {
        var shares: [UInt32: GatewayShare] = [:]
        let order = EventOrder(since: query.since, until: query.until)
        try ledger.forEachPacket(order) { packet in
            guard !query.hasTimes || !packet.isTimeOfImport else { return true }
            let heard = Dictionary(grouping: packet.receptions.filter { $0.gateway != 0 }, by: \.gateway)
            for (gateway, receptions) in heard {
                var share = shares[gateway] ?? GatewayShare(gateway: gateway)
                share.packets += 1
                if heard.count == 1 {
                    share.alone += 1
                    share.nodes.insert(packet.from)
                }
                for reception in receptions { share.note(reception) }
                shares[gateway] = share
            }
            return true
        }
        return shares.values.sorted { ($1.alone, $1.packets, $0.gateway) < ($0.alone, $0.packets, $1.gateway) }
    }

    /// A time of the mesh is later than any of which only the import is known.
    private mutating func note(_ reception: PacketReception) {
        let isOfImport = reception.heardSource == .imported
        guard let last else { return (self.last, isTimeOfImport) = (reception.heard, isOfImport) }
        if isOfImport == isTimeOfImport ? last < reception.heard : isTimeOfImport {
            (self.last, isTimeOfImport) = (reception.heard, isOfImport)
        }
    }

    static func columns(in ledger: Ledger) throws -> [Column<GatewayShare>] {
        let names = try NodeNames(ledger)
        return [
            Column("gateway") { .text(NodeID.text($0.gateway)) },
            Column("name", canCut: true) { .optional(names[$0.gateway]) },
            Column("packets") { .unsigned($0.packets) },
            Column("alone", heading: "only it") { .unsigned($0.alone) },
            Column("share", heading: "share", unit: "%", shown: { CellValue.double($0.share).rounded(1) }) { .double($0.share) },
            Column("nodes", heading: "from nodes") { .unsigned(UInt64($0.nodes.count)) },
            Column("time", heading: "last heard", isOfImport: \.isTimeOfImport) { row in
                row.last.map { .second($0.seconds) } ?? .null
            },
            Column("is_time_of_import", isDetail: true) { .bool($0.isTimeOfImport) },
        ]
    }

    /// As a percentage of its packets.
    private var share: Double { packets == 0 ? 0 : Double(alone) / Double(packets) * 100 }
}
