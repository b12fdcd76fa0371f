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

    /// The shares of the packets heard within the query's times, found in one walk over them; the gateway with the most packets that others missed comes first.
    static func all(_ query: RowQuery, in ledger: Ledger) throws -> [GatewayShare] {
        var shares: [UInt32: GatewayShare] = [:]
        func isWanted(_ time: Timestamp) -> Bool {
            query.since.map { $0 <= time } ?? true && query.until.map { time < $0 } ?? true
        }
        for run in try ledger.runs(heardFrom: query.since, before: query.until).reversed() {
            try ledger.forEachPacket(in: run) { packet in
                let heard = packet.receptions.filter { $0.gateway != 0 && isWanted($0.heard) }
                let gateways = Set(heard.map(\.gateway))
                for gateway in gateways {
                    var share = shares[gateway] ?? GatewayShare(gateway: gateway)
                    share.packets += 1
                    if gateways.count == 1 {
                        share.alone += 1
                        share.nodes.insert(packet.from)
                    }
                    let time = heard.filter { $0.gateway == gateway }.map(\.heard).max()
                    share.last = [share.last, time].compactMap(\.self).max()
                    shares[gateway] = share
                }
                return true
            }
        }
        return shares.values.sorted { ($1.alone, $1.packets, $0.gateway) < ($0.alone, $0.packets, $1.gateway) }
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
            Column("time", heading: "last heard") { row in row.last.map { .second($0.seconds) } ?? .null },
        ]
    }

    /// As a percentage of its packets.
    private var share: Double { packets == 0 ? 0 : Double(alone) / Double(packets) * 100 }
}
