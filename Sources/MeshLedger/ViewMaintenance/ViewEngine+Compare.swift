import EventLog
import Foundation
import LMDB
import MeshViews
import Meshtastic
import Projections

extension ViewEngine {
    /// Folds a view again beside the served one, and reports the rows that differ. Nothing is swapped: the new rows are removed, unless
    /// the view waits to be rebuilt anyway, which then uses them.
    ///
    /// - Parameter body: ends the comparison by returning false.
    func compare(
        _ definition: ViewDefinition, keyring: Keyring, progress: (@Sendable (FoldProgress) -> Void)?,
        _ body: (RowDifference) throws -> Bool
    ) async throws {
        try await settle(nil)
        guard let old = try served.store(definition) else {
            throw LedgerError(
                .notBuilt, path: log.path, "the view \(definition.name) is not built yet: there is nothing to compare with")
        }
        let folder = served.folder(definition.name)
        let member = try fresh(definition, beside: folder.current(), fromFirst: true)
        let stage = MeshStage(log: log, keyring: keyring)
        let pipeline = try await pipeline([member], stage)
        do {
            try await pipeline.fold(through: try old.checkpoint().sequence, progress: progress)
            try await pipeline.flush(.request)
            await pipeline.stop()
            for table in definition.rowTables {
                guard try RowMerge(old, member.store, table: table).run(body) else { break }
            }
        } catch {
            await pipeline.stop()
            member.store.close()
            throw error
        }
        member.store.close()
        if !held.contains(definition.name) { try folder.remove(member.folderName) }
    }

    /// Serves the last kept recipe, as it was left, until the view is rebuilt.
    /// - Throws: `.missing` if no recipe is kept.
    func goBack(_ definition: ViewDefinition) async throws {
        try await settle(nil)
        let folder = served.folder(definition.name)
        guard let name = folder.kept().last, let current = folder.current() else {
            throw LedgerError(
                .missing, path: log.path,
                "no older recipe of the view \(definition.name) is kept; `meshledger view rebuild --keep` keeps it")
        }
        try await leaveLive([definition.name])
        try folder.setKept([current])
        try folder.setPinned(true)
        try folder.serve(name)
        try serveOld(definition, folderName: name)
    }
}
