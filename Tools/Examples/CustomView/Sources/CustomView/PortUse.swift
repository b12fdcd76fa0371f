import MeshLedger

/// What a node sends: how many packets and bytes on each port.
struct PortUse: StoredRow {
    var node: UInt32 = 0
    var port: UInt32 = 0
    var packets: UInt64 = 0
    var bytes: UInt64 = 0
    var lastHeard: UInt32 = 0
    var meanBytes: Double { Double(bytes) / Double(max(packets, 1)) }

    static let view = "port-use"
    static let columns: [RowColumn<PortUse>] = [
        RowColumn(key: "node", \.node, .node),
        RowColumn(key: "port", \.port),
        RowColumn(1, "packets", \.packets),
        RowColumn(2, "bytes", \.bytes),
        RowColumn(3, "lastHeard", \.lastHeard, .time),
        RowColumn(computed: "meanBytes", \.meanBytes),
    ]
    static let indexes: [RowIndex<PortUse>] = [.index(\.port, \.packets)]
}

/// The fold that makes the rows.
struct PortUses: LedgerView {
    static let versions = [SchemaVersion(1)]
    static let cap = RowCap<PortUse>.total(20_000, by: \.lastHeard)

    func fold(_ event: MeshEvent, into rows: inout RowEditor<PortUse>) throws {
        try rows.update(PortUse(node: event.packet.from, port: event.packet.port)) { use in
            use.packets += 1
            use.bytes += event.payload { UInt64($0.byteCount) }
            use.lastHeard = max(use.lastHeard, event.time)
        }
    }
}
