import EventLog
import LMDB
import Meshtastic
import ProtobufWire
import TestKit
import Testing

@testable import MeshViews
@testable import Projections

/// The memory of rows that wait for a commit.
struct PendingRowsOfViews {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func pendingBytes<View: BuiltInView>(
        of view: View, _ batch: MeshBatch
    ) throws -> (folded: Int, committed: Int) where View.Batch == MeshBatch {
        var view = view
        let recipe = Recipe(view: view.name, version: view.version, policy: "", keyring: "")
        let store = try ViewStore.open(
            at: folder.path + "/" + view.name, recipe: recipe, tables: view.rowTables + view.stateTables, access: .readWrite)
        try view.load(store)
        var context = FoldContext(store: store)
        try view.fold(batch, after: .zero, in: &context)
        let folded = view.pendingBytes
        try store.environment.write { (transaction) throws(StorageError) in try view.write(to: &transaction, store: store) }
        view.committed()
        store.close()
        return (folded, view.pendingBytes)
    }

    @Test func `once a view has committed its rows, it keeps none of them in memory`() async throws {
        let log = try EventLog.temporary()
        let source = try await log.source(named: "test")
        var packets = RandomPackets().packets(400, seed: 3)
        var telemetry = WireWriter()
        telemetry.message(2) { $0.varint(1, 80) }
        packets.append(MeshPacketBuilder(id: 9_999, rxTime: 1_780_000_000, port: Port.telemetry, payload: telemetry.bytes))
        try await log.append(packets.map { $0.event(source) })
        try await log.append([RadioFrame.event(RadioFrame.config(6, 7, 3), source, at: 1_780_000_000)])
        let stage = MeshStage(log: log, keyring: .standard)
        var (batch, state) = (try stage.decode(EventSequence(1)...log.head), stage.initialState())
        stage.resolve(&batch, state: &state)
        for view in ViewRegistry.projections(ViewCaps()) {
            let bytes = try pendingBytes(of: view, batch)
            #expect(bytes.committed == 0, "\(view.name): \(bytes)")
            #expect(bytes.folded > 0 || view.name == ArchivedRow.view, "\(view.name)")
        }
        await log.close()
    }
}
