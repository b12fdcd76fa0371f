import EventLog
import MeshViews
import Meshtastic
import ViewQuery

extension RelationList {
    /// The receptions of the row's packet, in the order in which they arrived; found by the packet index, in whatever order they were added
    /// to the ledger. Those of a packet without an id are not looked for.
    static func receptions(
        _ packet: @escaping @Sendable (Parent) -> (sender: UInt32, id: UInt32, sequence: UInt64)
    ) -> RelationList {
        RelationList("heardBy") { parent, depth, ledger in
            let (sender, id, sequence) = packet(parent)
            guard id != 0, sequence != 0 else { return [] }
            // Ids recur: among several packets it is the one that this event is a reception of.
            let packets = try ledger.packets(EventSelection(node: sender, roles: .sender, packetID: id))
            let packet = packets.first { $0.receptions.contains { $0.sequence == sequence } }
            return packet?.heardReceptions.map { ExpandedRow($0, depth) } ?? []
        }
    }
}

extension ExpandedRow {
    /// A reception: its key is the event.
    init(_ reception: PacketReception, _ depth: ExpansionDepth) {
        var values: [(name: String, value: Any)] = [("sequence", reception.sequence)]
        if depth != .ids { values.append(("gateway", reception.gateway)) }
        if depth == .rows {
            values += [
                ("source", reception.source.rawValue), ("arrival", reception.arrival.microseconds),
                ("rxTime", reception.rxTime), ("snr", reception.snr), ("rssi", reception.rssi as Any),
                ("hopsAway", reception.hopsAway as Any), ("relayNode", reception.relayNode),
                ("isViaMQTT", reception.isViaMQTT),
            ]
        }
        self.init(view: "receptions", values: values)
    }
}
