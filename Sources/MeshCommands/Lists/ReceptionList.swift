import ArgumentParser
import MeshLedger
import MeshTables
import Meshtastic
import ViewQuery

struct ReceptionList: RowList {
    static let about = ListDescription(
        name: "receptions", abstract: "All receptions of a packet, with their signal values.",
        discussion: """
            An id can recur, in packets of other nodes, in later ones or in forged ones. Each is listed separately: `packet` is its first event.

              meshledger packets receptions 2740310711
              meshledger packets receptions 2740310711 --from '!19025c00' --format json
              meshledger packets receptions 2740310711 --sort snr --reverse
            """)

    @Option(help: "Only of this sender's packet: ids recur.") var from: NodeArgument?
    @Argument(help: "The packet's id.") var id: UInt32

    func columns(_ request: ListRequest) throws -> [Column<ReceptionRecord>] {
        try request.ledger.columns(ReceptionRecord.self)
    }

    /// In the order of their events, unless the order is reversed.
    func write(_ request: ListRequest) throws { try request.writeInOwnOrder(self) }

    func visit(_ query: RowQuery, in ledger: Ledger, _ body: (ReceptionRecord) -> Void) throws {
        let packets = try ledger.packets(withID: id, from: from?.number(in: ledger))
        guard !packets.isEmpty else { throw CommandError.noPacket(id, in: ledger) }
        let found = packets.flatMap(ReceptionRecord.all(of:)).filter { record in
            let heard = record.reception.heard
            return query.since.map { heard >= $0 } ?? true && query.until.map { heard < $0 } ?? true
        }
        (query.newestFirst ? found.reversed() : found).dropFirst(query.offset).prefix(query.limit).forEach(body)
    }
}
