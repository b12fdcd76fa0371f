import EventLog
import LMDB
import Meshtastic
import Projections
import ViewQuery

/// Runs a custom view as the ledger runs its built-in ones.
struct OwnProjection<View: LedgerView>: Projection {
    typealias Batch = MeshBatch

    private let view = View()
    private let ports: Set<UInt32>?
    private var rows = RowTable<View.Row>(View.cap)

    init() { ports = View.ports }

    var name: String { View.Row.view }
    var version: UInt32 { View.versions.last?.number ?? 0 }
    var policy: String { "\(View.cap.text);\(TimePolicy.text)" }
    var rowTables: [String] { [View.Row.table] }
    var stateTables: [String] { [RowTable<View.Row>.ages, RowTable<View.Row>.counts] }
    var pendingBytes: Int { rows.pendingCount * 512 }

    mutating func load(_ store: ViewStore) throws(StorageError) { try rows.fit(store) }

    mutating func fold(_ batch: MeshBatch, after checkpoint: EventSequence, in context: inout FoldContext) throws(StorageError) {
        let stamps = batch.stamps.span
        let packets = batch.packets.packets.span
        var event = MeshEvent(batch: batch, index: 0)
        for index in stamps.indices {
            guard stamps[index].sequence > checkpoint.rawValue,
                View.countsReceptions && stamps[index].counts(packets[index])
                    || stamps[index].isFirstReadable && packets[index].failure == nil,
                ports?.contains(packets[index].port) ?? true, packets[index].hasPacket,
                packets[index].from != 0, packets[index].from != .max
            else { continue }
            event.index = index
            try fold(event, &context)
        }
    }

    private mutating func fold(_ event: MeshEvent, _ context: inout FoldContext) throws(StorageError) {
        let (changes, wantsCommit) = try changes(by: event, &context)
        guard !changes.isEmpty else { return }
        for change in changes { try rows.set(change.key, change.row, in: context.store) }
        context.want(wantsCommit ? .immediate : .debounced)
    }

    /// The view's changes for an event, separate from applying them: rows that are lent for reading would all be copied by a change.
    private func changes(
        by event: MeshEvent, _ context: inout FoldContext
    ) throws(StorageError) -> (changes: [RowEditor<View.Row>.Change], wantsCommit: Bool) {
        let (rows, store) = (rows, context.store)
        var editor = RowEditor<View.Row> { try rows.row($0, in: store) }
        do {
            try view.fold(event, into: &editor)
        } catch {
            // A failure of the file is not a fault of the event.
            if let error = error as? StorageError { throw error }
            context.quarantine(EventSequence(rawValue: event.sequence), reason: "\(error)")
            return ([], false)
        }
        return (editor.changes, editor.wantsCommit)
    }

    func write(to transaction: inout WriteTransaction, store: ViewStore) throws(StorageError) {
        try rows.write(to: &transaction, store)
    }

    mutating func committed() { rows.committed() }
}
