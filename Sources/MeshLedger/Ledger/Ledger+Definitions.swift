import MeshViews
import Meshtastic
import Projections
import Synchronization
public import ViewQuery

extension Ledger {
    var definitions: [ViewDefinition] { definitionsBox.withLock { $0 } }

    /// The names of all built-in views, in the order in which they are listed.
    public static let viewNames = ViewRegistry.projections(ViewCaps()).map(\.name)

    /// The names of this ledger's views, custom ones first, in the order in which they are listed.
    public var viewNames: [String] { definitions.map(\.name) }

    /// The type of the rows of a view, or of another table of one; nil if no table has that name.
    public func rows(of name: String) -> (any QueryRow.Type)? {
        let all = definitions.flatMap(\.rows)
        return all.first { $0.table == name } ?? all.first { $0.view == name }
    }

    /// The names that `rows(of:)` accepts.
    public var rowNames: [String] { definitions.flatMap { $0.rows.map { $0.table } } }

    func definition(_ name: String) throws(LedgerError) -> ViewDefinition {
        if let found = definitions.first(where: { $0.name == name }) { return found }
        let known = definitions.map(\.name).joined(separator: ", ")
        throw LedgerError(.notBuilt, path: path, "there is no view \(name); there are \(known)")
    }

    static func definitions(_ keyring: Keyring, _ options: LedgerOptions) -> [ViewDefinition] {
        let fingerprint = keyring.fingerprint.map { String($0, radix: 16) }.joined(separator: ".")
        func define<P: Projection>(
            _ projection: P, _ rows: [any QueryRow.Type], _ versions: [SchemaVersion]? = nil,
            makingState makeState: @escaping @Sendable (ViewStore) throws -> Void = { _ in }
        ) -> ViewDefinition where P.Batch == MeshBatch {
            var definition = ViewDefinition(
                projection, rows: rows, versions: versions, makeState: makeState, keyring: fingerprint, clock: options.flushClock,
                policy: options.flushPolicy)
            definition.isIndexed = options.keepsIndexes
            return definition
        }
        func define<View: LedgerView>(custom view: View.Type) -> ViewDefinition {
            var definition = define(ViewRegistry.projection(view), [View.Row.self], View.versions) {
                try ViewRegistry.makeState(of: view, in: $0)
            }
            definition.isCustom = true
            return definition
        }
        let rows = Dictionary(grouping: ViewRegistry.rows) { $0.view }
        return ViewRegistry.projections(options.caps).map { define($0, rows[$0.name] ?? []) }
            + options.views.map { define(custom: $0) }
    }

    /// - Throws: `.schema` if a custom view is not valid, `.query` for a cap below 1.
    static func check(_ options: LedgerOptions, _ path: String) throws(LedgerError) {
        guard options.caps.areValid else { throw LedgerError(.query, path: path, "a cap of a view is a number from 1 on") }
        var check = ViewCheck(path: path, taken: viewNames)
        for view in options.views { try check.check(view) }
    }

    /// Checks that the served views can be read: a reader refuses rows of newer versions, or of another layout than in this program. Built-in views are opened
    /// for their layout when they are first read: a command reads few of them.
    func checkServed() throws(LedgerError) {
        for definition in definitions {
            let folder = served.folder(definition.name)
            guard let name = folder.current(), !folder.isPinned else { continue }
            try definition.refuseNewer(folderName: name, path: path)
            guard definition.isCustom, name.prefix(while: { $0 != "." }) == definition.recipe.identifier else { continue }
            let stored = try? served.store(definition)?.schema()  // an error is reported when its rows are read
            try definition.checkLayout(stored, path: path)
        }
    }
}
