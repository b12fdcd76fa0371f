import EventLog
import MeshLedger
import MeshTables
import Meshtastic

/// A packet in a list, with its content if requested.
struct LivePacket: PacketHolder {
    /// Apart from the packet: most have none, and rows are copied often.
    private final class Heard {
        let event: EventRow

        init(_ event: EventRow) { self.event = event }
    }

    let packet: PacketRow
    private let heard: Heard?

    /// The reception that was just heard.
    var event: EventRow? { heard?.event }

    init(packet: PacketRow) { (self.packet, heard) = (packet, nil) }

    init(_ row: EventRow, _ packet: DecodedPacket) {
        heard = Heard(row)
        self.packet = PacketRow(packet, channel: row.channel, PacketReception(packet, row.header))
    }

    /// The columns of packets as they are heard.
    static func columns(by clock: EventOrder.Clock) -> [Column<LivePacket>] {
        let columns = packetColumns(by: clock).map { column in
            var column = column
            if ["time_source", "id", "opening", "receptions"].contains(column.name) { column.isDetail = true }
            if ["first_sequence", "to", "channel", "gateways"].contains(column.name) { column.isMinor = true }
            if column.name == "gateways" { column.isText = false }
            return column
        }
        return columns + [contentColumn { $0.event }]
    }

    /// The column for stored packets, which reads their events one by one.
    static func storedContentColumn(_ ledger: Ledger) throws -> Column<LivePacket> {
        let rows = try EventRows(ledger, with: .content)
        return contentColumn { row in
            for reception in row.packet.receptions {
                guard let event = try? ledger.log.event(EventSequence(reception.sequence)) else { continue }  // dropped since
                let found = rows.row(event)
                if found.content != .null { return found }
            }
            return nil
        }
    }

    private static func contentColumn(_ event: @escaping (LivePacket) -> EventRow?) -> Column<LivePacket> {
        let column = EventRow.contentColumn
        return Column("content", isText: true, shown: { event($0).map { column.shown?($0) ?? "" } ?? "" }) {
            event($0).map(column.value) ?? .null
        }
    }
}
