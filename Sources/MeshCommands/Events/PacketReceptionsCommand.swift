import ArgumentParser
import EventLog
import MeshLedger
import MeshTables
import Meshtastic

struct PacketReceptionsCommand: AsyncParsableCommand, ShowsTimes {
    static let configuration = CommandConfiguration(
        commandName: "receptions", abstract: "All receptions of a packet, with their signal values.",
        discussion: """
            An id can recur, in packets of other nodes, in later ones or in forged ones. Each is listed apart: `packet` is its first event.

              meshledger packets receptions 2740310711
              meshledger packets receptions 2740310711 --from '!19025c00' --format json
            """)

    @OptionGroup var ledger: LedgerOption
    @OptionGroup var past: AsOfOption
    @OptionGroup var output: OutputOptions
    @Option(help: "Only of this sender's packet: ids recur.") var from: NodeArgument?
    @Argument(help: "The packet's id.") var id: UInt32

    func run() async throws {
        try await ledger.reading(past) { ledger in
            let packets = try ledger.packets(withID: id, from: from?.number(in: ledger))
            guard !packets.isEmpty else { throw CommandError(.noInput, "no packet with the id \(id) was heard") }
            let writer = try output.writer(ReceptionRecord.columns(in: ledger))
            for packet in packets {
                for reception in packet.receptions { writer.write(ReceptionRecord(packet: packet, reception: reception)) }
            }
            writer.finish()
        }
    }
}

extension ReceptionRecord {
    static var receptionColumns: [Column<ReceptionRecord>] {
        [
            Column("sequence") { .unsigned($0.reception.sequence) },
            Column("arrival") { .instant($0.reception.arrival) },
            Column("rx_time", isDetail: true) { .time($0.reception.rxTime) },
            Column("gateway") { $0.reception.gateway == 0 ? .null : .text(NodeID.text($0.reception.gateway)) },
            Column("snr", unit: "dB") { $0.reception.rssi == nil && $0.reception.snr == 0 ? .null : .float($0.reception.snr) },
            Column("rssi", unit: "dBm") { .number($0.reception.rssi) },
            Column("hops_away", heading: "hops") { $0.reception.hopsAway.map { .unsigned(UInt64($0)) } ?? .null },
            Column("relay_node", isDetail: true) {
                $0.reception.relayNode == 0 ? .null : .unsigned(UInt64($0.reception.relayNode))
            },
            Column("is_via_mqtt", isDetail: true) { .bool($0.reception.isViaMQTT) },
        ]
    }
}
