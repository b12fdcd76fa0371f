public import Projections
import Synchronization

extension Ledger {
    /// How the views are kept: their state and that of the ledger, rebuilding and comparing them, quarantined events, and the stored versions of
    /// the views of a program.
    ///
    /// ```swift
    /// for view in try await ledger.maintenance.views() where view.quarantined > 0 {
    ///     for row in try ledger.maintenance.quarantine(view: view.name) { print(row.sequence, row.reason) }
    /// }
    /// try await ledger.maintenance.rebuild(["nodes"])
    /// ```
    public struct Maintenance: Sendable {
        let ledger: Ledger
    }

    public var maintenance: Maintenance { Maintenance(ledger: self) }
}

extension Ledger.Maintenance {
    /// Rebuilds views from the first event, beside the current ones, which answer meanwhile.
    ///
    /// - Parameters:
    ///   - names: nil for all.
    ///   - keepsOld: whether the old rows are kept beside the new ones, so that `goBack` can serve them again.
    /// - Throws: `.readOnly`, `.missing` for a view that does not exist, and the error that stopped the build.
    public func rebuild(
        _ names: [String]? = nil, keepsOld: Bool = false, progress: (@Sendable (FoldProgress) -> Void)? = nil
    ) async throws(LedgerError) {
        guard !ledger.isReadOnly else { throw ledger.readOnlyError }
        let chosen = try names.map { (names) throws(LedgerError) in try names.map(ledger.definition) } ?? ledger.definitions
        try await ledger.wrappingErrors {
            try await ledger.gate.run {
                try await ledger.engine.rebuild(
                    chosen, of: ledger.definitions, keyring: ledger.keys.keyring, keepsOld: keepsOld, progress: progress)
            }
        }
    }

    /// Folds a view again, and reports the rows that differ from those being served: what a new version, another cap or other keys would change,
    /// before they do. Nothing is swapped in. Use `LedgerOptions.heldViews` to keep opening from rebuilding a view. In a ledger that is
    /// open for reading, beside the process that writes, both are compared in memory, at the view's checkpoint.
    ///
    /// - Parameter body: receives each row that differs, in the order of the keys; ends the comparison by returning false.
    /// - Throws: `.notBuilt` if the view has no rows to compare with.
    public func compareRebuilt(
        _ name: String, progress: (@Sendable (FoldProgress) -> Void)? = nil,
        _ body: @escaping @Sendable (RowDifference) throws -> Bool
    ) async throws(LedgerError) {
        let definition = try ledger.definition(name)
        try await ledger.wrappingErrors {
            if ledger.isReadOnly { return try compareBeside(definition, body) }
            try await ledger.gate.run {
                try await ledger.engine.compare(definition, keyring: ledger.keys.keyring, progress: progress, body)
            }
        }
    }

    /// Restores the rows that the last `rebuild(keepsOld: true)` replaced, as they were left: they do not follow the log. Lasts until the view is
    /// rebuilt; a second call serves the new ones again.
    ///
    /// - Throws: `.missing` if none were kept.
    public func goBack(_ name: String) async throws(LedgerError) {
        guard !ledger.isReadOnly else { throw ledger.readOnlyError }
        let definition = try ledger.definition(name)
        try await ledger.wrappingErrors { try await ledger.gate.run { try await ledger.engine.goBack(definition) } }
    }
}
