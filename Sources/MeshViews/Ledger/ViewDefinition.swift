import LMDB
import Projections
import ViewQuery

/// One view of the ledger: its recipe, its tables, and how to run it.
struct ViewDefinition: Sendable {
    var recipe: Recipe
    var rowTables: [String]
    var tables: [String]
    var indexes: [IndexedTable]
    var oldestReadableVersion: UInt32
    /// The types of its rows.
    var rows: [any QueryRow.Type]
    var start: @Sendable (ViewStore) throws -> any BatchFolder<MeshBatch>
    /// Folds into a store that nobody else uses, up to an event; what is folded up to each halt is committed when `atHalt` is called.
    var replay:
        @Sendable (
            _ into: ViewStore, _ by: MeshStage, _ through: UInt64, _ halts: [UInt64], _ atHalt: (UInt64) throws -> Void
        ) throws -> Void
    /// Folds one batch into such a store.
    var replayBatch: @Sendable (_ into: ViewStore, _ batch: MeshBatch) throws -> Void

    var name: String { recipe.view }

    init<P: Projection>(
        _ projection: P, rows: [any QueryRow.Type], keyring: String, clock: any LedgerClock, policy: FlushPolicy
    ) where P.Batch == MeshBatch {
        recipe = Recipe(view: projection.name, version: projection.version, policy: projection.policy, keyring: keyring)
        self.rows = rows
        rowTables = projection.rowTables
        oldestReadableVersion = projection.oldestReadableVersion
        tables = projection.rowTables + projection.stateTables
        indexes = rows.flatMap { $0.indexedTables }
        start = { store in try Projector(projection, store: store, clock: clock, policy: policy) }
        replay = { store, stage, last, halts, atHalt in
            try Replay.run(projection, into: store, by: stage, through: last, halts: halts, atHalt: atHalt)
        }
        replayBatch = { store, batch in try Replay.run(projection, into: store, batch) }
    }
}
