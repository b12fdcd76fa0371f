public import Projections
import Synchronization

extension Ledger {
    /// Rebuilds views from the first event, beside the current ones, which answer meanwhile.
    ///
    /// - Parameters:
    ///   - names: nil for all.
    ///   - keepsOld: whether the old rows are kept beside the new ones, so that `goBack` can serve them again.
    /// - Throws: `.readOnly`, `.missing` for a view that does not exist, and the error that stopped the build.
    public func rebuild(
        _ names: [String]? = nil, keepsOld: Bool = false, progress: (@Sendable (FoldProgress) -> Void)? = nil
    ) async throws(LedgerError) {
        guard !isReadOnly else { throw readOnlyError }
        let chosen = try names.map { (names) throws(LedgerError) in try names.map(definition) } ?? definitions
        try await wrappingErrors {
            try await gate.run {
                try await engine.rebuild(chosen, of: definitions, keyring: keyring, keepsOld: keepsOld, progress: progress)
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
        let definition = try definition(name)
        try await wrappingErrors {
            if isReadOnly { return try compareBeside(definition, body) }
            try await gate.run {
                try await engine.compare(definition, keyring: keyring, progress: progress, body)
            }
        }
    }

    /// Restores the rows that the last `rebuild(keepsOld: true)` replaced, as they were left: they do not follow the log. Lasts until the view is
    /// rebuilt; a second call serves the new ones again.
    ///
    /// - Throws: `.missing` if none were kept.
    public func goBack(_ name: String) async throws(LedgerError) {
        guard !isReadOnly else { throw readOnlyError }
        let definition = try definition(name)
        try await wrappingErrors { try await gate.run { try await engine.goBack(definition) } }
    }
}
