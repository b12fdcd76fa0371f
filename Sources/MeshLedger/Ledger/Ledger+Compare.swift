import EventLog
import Foundation
import LMDB
import MeshViews
import Projections

extension Ledger.Maintenance {
    /// Folds a view in memory up to the checkpoint of the served one, and reports the rows that differ. The process that writes continues
    /// meanwhile: the view that it serves is copied as of one point in time.
    func compareBeside(_ definition: ViewDefinition, _ body: (RowDifference) throws -> Bool) throws {
        guard let served = try ledger.served.store(definition) else {
            throw LedgerError(
                .notBuilt, path: ledger.path, "the view \(definition.name) is not built yet: there is nothing to compare with")
        }
        let place = try TemporaryStores()
        defer { place.remove() }
        let (copy, fresh) = (place.path + "/served", place.path + "/fresh")
        try OwnedFile.makeFolder(copy)
        try served.environment.copySnapshot(to: copy + "/data.mdb")
        let old = try ViewStore.open(
            at: copy, recipe: definition.recipe, tables: definition.tables, indexes: definition.indexes, access: .readOnly)
        defer { old.close() }
        place.hide(old, isLast: false)
        let new = try ViewBaselines(log: ledger.log).store(definition, at: fresh)
        defer { new.close() }
        place.hide(new)
        let stage = MeshStage(log: ledger.log, keyring: ledger.keys.keyring)
        try definition.replay(new, stage, try old.checkpoint().sequence, []) { _ in }
        for table in definition.rowTables { guard try RowMerge(old, new, table: table).run(body) else { return } }
    }
}
