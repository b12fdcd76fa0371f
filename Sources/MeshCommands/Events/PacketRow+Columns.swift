import EventLog
import MeshLedger
import MeshTables
import Meshtastic

/// A row that is a packet, perhaps with something else.
protocol PacketHolder {
    var packet: PacketRow { get }
}

extension PacketRow: PacketHolder {
    var packet: PacketRow { self }
}

extension PacketHolder {
    /// How the packet was received where its signal was best.
    static var signalColumns: [Column<Self>] {
        [
            Column("snr", unit: "dB") { row in
                row.packet.bestReception.map { $0.snr == 0 && $0.rssi == nil ? .null : .float($0.snr) } ?? .null
            },
            Column("rssi", unit: "dBm") { .number($0.packet.bestReception?.rssi) },
            Column("hops_away", heading: "hops") { .number(($0.packet.bestReception?.hopsAway).map { UInt32($0) }) },
        ].map(\.onRequest)
    }

    static func packetColumns(by clock: EventOrder.Clock) -> [Column<Self>] {
        PacketRow.columns(by: clock).map { $0.of { $1($0.packet) } }
    }
}

extension PacketRow {
    /// A table shows the time by which it is sorted.
    static func columns(by clock: EventOrder.Clock) -> [Column<PacketRow>] {
        Column.all(tableColumns(TableContext()), shown(by: clock))
    }

    /// Whether nothing tells when it was heard.
    var isTimeOfImport: Bool { firstHeard?.heardSource == .imported }

    /// How it was received where its signal was best, its sender's name, and what it contains.
    static func further(in ledger: Ledger, _ isWanted: (String) -> Bool) throws -> [Column<PacketRow>] {
        let content = isWanted("content") ? [try storedContentColumn(ledger)] : []
        let name = Column<PacketRow>.nodeName("from_name", in: ledger, \.from)
        return (signalColumns + [name]).filter { isWanted($0.name) } + content
    }

    /// What it contains, for which its events are read one by one.
    static func storedContentColumn(_ ledger: Ledger) throws -> Column<PacketRow> {
        try LivePacket.storedContentColumn(ledger).of { $1(LivePacket(packet: $0)) }
    }

    fileprivate var bestReception: PacketReception? {
        func isMeasured(_ reception: PacketReception) -> Bool { reception.snr != 0 || reception.rssi != nil }
        return receptions.filter(isMeasured).max { $0.snr < $1.snr } ?? receptions.first
    }
}
