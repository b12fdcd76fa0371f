import MeshViews

/// The views of one's own that the command line works with, beside the ledger's.
enum OwnViews {
    @TaskLocal static var types: [any LedgerView.Type] = []

    static func options(access: LedgerOptions.Access = .readWrite) -> LedgerOptions {
        var options = LedgerOptions(access: access)
        options.views = types
        return options
    }
}
