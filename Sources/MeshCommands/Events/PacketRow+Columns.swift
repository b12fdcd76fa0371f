import EventLog
import MeshLedger
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
        ]
    }

    /// A table shows the time by which it is sorted.
    static func packetColumns(by clock: EventOrder.Clock) -> [Column<Self>] {
        [
            Column("first_sequence") { .unsigned($0.packet.firstSequence) },
            Column(
                "time", isDetail: clock != .heard,
                shown: { $0.packet.firstHeard.flatMap { PacketCell.imported($0.heard, $0.heardSource) } }
            ) {
                $0.packet.heard.map { .instant($0) } ?? .null
            },
            Column("time_source", isDetail: clock != .heard, isMinor: true) { row in
                row.packet.firstHeard.map { PacketCell.name($0.heardSource) } ?? .null
            }.named(PacketCell.heardSources),
            Column("arrival", isDetail: clock != .arrival) { $0.packet.receptions.first.map { .instant($0.arrival) } ?? .null },
            Column("id", isMinor: true) { .number($0.packet.id) },
            Column("from") { PacketCell.node($0.packet.from) },
            Column("to") { PacketCell.node($0.packet.to) },
            Column("port", canCut: true) { PacketCell.port($0.packet.port, isReadable: $0.packet.opening.isReadable) }
                .named(.ports),
            Column("channel", canCut: true) { .optional($0.packet.channel) },
            Column("opening", canCut: true, isMinor: true) { PacketCell.name($0.packet.opening) }.named(.cases(Opening.self)),
            Column("is_damaged", isDetail: true) { .bool($0.packet.isDamaged) },
            Column("receptions", heading: "heard") { .unsigned(UInt64($0.packet.receptions.count)) },
            Column("gateways", isText: true) { row in
                var gateways: [CellValue] = []
                gateways.reserveCapacity(row.packet.receptions.count)
                for reception in row.packet.receptions where reception.gateway != 0 {
                    gateways.append(.text(NodeID.text(reception.gateway)))
                }
                return .list(gateways)
            },
            Column("sequences", isDetail: true) { .list($0.packet.receptions.map { .unsigned($0.sequence) }) },
            Column("has_conflict", isDetail: true) { .bool($0.packet.hasConflict) },
        ]
    }
}

extension PacketRow {
    /// The reception by which its time is known.
    fileprivate var firstHeard: PacketReception? { receptions.min { $0.heard < $1.heard } }

    fileprivate var bestReception: PacketReception? {
        func isMeasured(_ reception: PacketReception) -> Bool { reception.snr != 0 || reception.rssi != nil }
        return receptions.filter(isMeasured).max { $0.snr < $1.snr } ?? receptions.first
    }
}

extension IndexedEvent {
    static var columns: [Column<IndexedEvent>] {
        [
            Column("sequence") { .unsigned($0.sequence) },
            Column("from") { $0.hasPacket ? PacketCell.node($0.from) : .null },
            Column("to") { $0.hasPacket ? PacketCell.node($0.to) : .null },
            Column("gateway") { $0.gateway == 0 ? .null : .text(NodeID.text($0.gateway)) },
            Column("channel") { .optional($0.channel) },
            Column("port") { PacketCell.port($0.port ?? 0, isReadable: $0.port != nil) }.named(.ports),
            Column("named") { .list($0.named.map { .text(NodeID.text($0)) }) },
            Column("is_first_reception") { .bool($0.isFirstReception) },
            Column("is_first_readable") { .bool($0.isFirstReadable) },
            Column("is_repeat") { .bool($0.isRepeat) },
        ]
    }
}
