import MeshViews
import ViewQuery

/// The views of one's own that the command line works with, beside the ledger's.
enum OwnViews {
    @TaskLocal static var types: [any LedgerView.Type] = []

    /// The names of all views, the ledger's and these.
    static var names: [String] { Ledger.viewNames + types.map { $0.viewName } }

    static func options(access: LedgerOptions.Access = .readWrite) -> LedgerOptions {
        var options = LedgerOptions(access: access)
        options.views = types
        return options
    }
}

extension LedgerView {
    fileprivate static var viewName: String { Row.view }
}
