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

    /// With the time of the mesh.
    private static func columns(in ledger: Ledger) throws -> [Column<ReceptionRecord>] {
        var columns = try ledger.columns(ReceptionRecord.self)
        let place = columns.firstIndex { $0.name == "arrival" } ?? columns.endIndex
        let time = Column<ReceptionRecord>("time", isOfImport: { $0.reception.heardSource == .imported }) {
            .instant($0.reception.heard)
        }
        let source = Column<ReceptionRecord>("time_source", isDetail: true) { .text($0.reception.heardSource.text) }
        columns.insert(contentsOf: [time, source], at: place)
        return columns
    }

    func run() async throws {
        try await ledger.reading(past) { ledger in
            let packets = try ledger.packets(withID: id, from: from?.number(in: ledger))
            guard !packets.isEmpty else { throw CommandError(.noInput, "no packet with the id \(id) was heard") }
            let writer = try output.writer(Self.columns(in: ledger))
            for packet in packets {
                for reception in ReceptionRecord.all(of: packet) { writer.write(reception) }
            }
            writer.finish()
        }
    }
}
