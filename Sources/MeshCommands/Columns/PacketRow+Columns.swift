import EventLog
import MeshLedger
import Meshtastic

extension PacketRow {
    /// A table shows the time by which it is sorted.
    static func columns(by clock: EventOrder.Clock) -> [Column<PacketRow>] {
        [
            Column("first_sequence") { .unsigned($0.firstSequence) },
            Column("time", isDetail: clock != .heard) {
                $0.heard.map { .instant($0) } ?? .null
            },
            Column("time_source", isDetail: clock != .heard, isMinor: true) { row in
                row.receptions.min { $0.heard < $1.heard }.map { PacketCell.name($0.heardSource) } ?? .null
            }.named(PacketCell.heardSources),
            Column("arrival", isDetail: clock != .arrival) { $0.receptions.first.map { .instant($0.arrival) } ?? .null },
            Column("id", isMinor: true) { .number($0.id) },
            Column("from") { PacketCell.node($0.from) },
            Column("to") { PacketCell.node($0.to) },
            Column("port", canCut: true) { PacketCell.port($0.port, isReadable: $0.opening.isReadable) }.named(.ports),
            Column("channel", canCut: true) { .optional($0.channel) },
            Column("opening", canCut: true, isMinor: true) { PacketCell.name($0.opening) }.named(.cases(Opening.self)),
            Column("is_damaged", isDetail: true) { .bool($0.isDamaged) },
            Column("receptions", heading: "heard") { .unsigned(UInt64($0.receptions.count)) },
            Column("gateways", isText: true) { row in
                .list(row.receptions.filter { $0.gateway != 0 }.map { .text(NodeID.text($0.gateway)) })
            },
            Column("sequences", isDetail: true) { .list($0.receptions.map { .unsigned($0.sequence) }) },
            Column("has_conflict", isDetail: true) { .bool($0.hasConflict) },
        ]
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
