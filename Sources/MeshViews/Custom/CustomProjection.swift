import EventLog
import LMDB
import Meshtastic
import Projections
import ViewQuery

/// Runs a custom view as the ledger runs its built-in ones.
struct CustomProjection<View: LedgerView>: Projection {
    typealias Batch = MeshBatch

    private let view = View()
    private let ports = View.ports
    private let countsReceptions = View.countsReceptions
    /// Nil until the store is known.
    private var rows: RowEditor<View.Row>?

    var name: String { View.Row.view }
    var version: UInt32 { View.versions.last?.number ?? 0 }
    var policy: String { "\(View.cap.text);\(TimePolicy.text)" }
    var rowTables: [String] { [View.Row.table] }
    var stateTables: [String] { [RowTable<View.Row>.ages, RowTable<View.Row>.counts] }
    var pendingBytes: Int { rows?.table.pendingBytes ?? 0 }

    mutating func load(_ store: ViewStore) throws(StorageError) {
        let table = try RowTable(View.cap, store)
        try table.fit()
        rows = RowEditor(table)
    }

    mutating func fold(_ batch: MeshBatch, after checkpoint: EventSequence, in context: inout FoldContext) throws(StorageError) {
        let places = places(in: batch, after: checkpoint)
        guard !places.isEmpty else { return }
        let view = view
        try rows?.fold(MeshEvents(batch, places), by: view, in: &context)
    }

    /// The events that the view receives.
    private func places(in batch: MeshBatch, after checkpoint: EventSequence) -> [Int32] {
        let stamps = batch.stamps.span
        let packets = batch.packets.packets.span
        var places: [Int32] = []
        places.reserveCapacity(stamps.count)
        for index in stamps.indices {
            guard stamps[index].sequence > checkpoint.rawValue,
                countsReceptions && stamps[index].counts(packets[index])
                    || stamps[index].isFirstReadable && packets[index].failure == nil,
                ports?.contains(packets[index].port) ?? true, packets[index].hasPacket,
                packets[index].from != 0, packets[index].from != .max
            else { continue }
            places.append(Int32(index))
        }
        return places
    }

    func write(to transaction: inout WriteTransaction, store: ViewStore) throws(StorageError) {
        try rows?.table.write(to: &transaction)
    }

    mutating func committed() { rows?.table.committed() }
}
