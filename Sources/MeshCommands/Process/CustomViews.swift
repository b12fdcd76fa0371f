import MeshLedger
import ViewQuery

/// The custom views of the command line, in addition to the built-in ones.
enum CustomViews {
    @TaskLocal static var types: [any LedgerView.Type] = []

    /// The names of all views, built-in ones and these.
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
