import EventLog
public import MeshLedger
import Synchronization

/// What columns need besides the row: names of nodes and sources, and the current time. Each is read from the ledger when a column first needs it.
public struct TableContext: Sendable {
    private let loaded: LoadedContext?
    /// Seconds since 1970.
    public private(set) var now: UInt32

    /// For schemas only: it contains no names.
    public init() {
        loaded = nil
        now = 0
    }

    /// For the columns of a ledger's tables: it contains no names, but says which rows an older recipe made.
    init(schemasOf ledger: Ledger) {
        // These are only rows of dropped events.
        loaded = ledger.log.first.rawValue > 1 ? LoadedContext(ledger, hasNames: false) : nil
        now = 0
    }

    /// Columns read what they need while they are made, and `check` reports what could not be read.
    package init(of ledger: Ledger) {
        loaded = LoadedContext(ledger)
        now = UInt32(clamping: (ledger.asOfTime ?? .now).seconds)
    }

    /// Reads everything now.
    /// - Throws: errors of the views and of the log.
    public init(_ ledger: Ledger) throws {
        self.init(of: ledger)
        _ = (nodeNames, sourceNames)
        for view in Set(ledger.rowNames.compactMap { ledger.rows(of: $0)?.view }) { _ = origins(of: view) }
        try check()
    }

    /// The same at another time; nil for the same.
    func at(_ time: UInt32?) -> TableContext {
        var context = self
        context.now = time ?? now
        return context
    }

    /// By number; a node without a name is missing.
    public var nodeNames: [UInt32: String] { loaded?.nodeNames ?? [:] }

    public var sourceNames: [UInt32: String] { loaded?.sourceNames ?? [:] }

    /// For a view with rows of dropped events, the older recipe that made them.
    func origins(of view: String) -> RowOrigins? { loaded?.origins(of: view) }

    /// - Throws: the first error of what was read so far.
    package func check() throws { try loaded?.check() }
}

/// The names of a ledger, each kind read once.
private final class LoadedContext: Sendable {
    private struct State {
        var nodeNames: [UInt32: String]?
        var sourceNames: [UInt32: String]?
        var origins: [String: RowOrigins] = [:]
        var error: (any Error)?
    }

    private let ledger: Ledger
    private let hasNames: Bool
    private let state = Mutex(State())

    init(_ ledger: Ledger, hasNames: Bool = true) { (self.ledger, self.hasNames) = (ledger, hasNames) }

    var nodeNames: [UInt32: String] {
        guard hasNames else { return [:] }
        return state.withLock { state in
            if let known = state.nodeNames { return known }
            let names = read(&state, [:]) { try Self.nodeNames(ledger) }
            state.nodeNames = names
            return names
        }
    }

    var sourceNames: [UInt32: String] {
        guard hasNames else { return [:] }
        return state.withLock { state in
            if let known = state.sourceNames { return known }
            let names = read(&state, [:]) {
                Dictionary(uniqueKeysWithValues: try ledger.log.sources().map { ($0.id.rawValue, $0.name) })
            }
            state.sourceNames = names
            return names
        }
    }

    func origins(of view: String) -> RowOrigins? {
        state.withLock { state in
            if let known = state.origins[view] { return known.isEmpty ? nil : known }
            guard let found = read(&state, nil, { try ledger.maintenance.rowOrigins(of: view) as RowOrigins? }) else {
                return nil
            }
            state.origins[view] = found
            return found.isEmpty ? nil : found
        }
    }

    func check() throws {
        if let error = state.withLock({ $0.error }) { throw error }
    }

    /// The alias in this ledger, or else the long name, or else the short name.
    private static func nodeNames(_ ledger: Ledger) throws -> [UInt32: String] {
        var all = RowQuery()
        all.includesArchived = true
        var names: [UInt32: String] = [:]
        for node in try ledger.nodes(all) {
            let name = !node.alias.isEmpty ? node.alias : node.longName.isEmpty ? node.shortName : node.longName
            if !name.isEmpty { names[node.number] = name }
        }
        return names
    }

    private func read<Value>(_ state: inout State, _ fallback: Value, _ find: () throws -> Value) -> Value {
        do {
            return try find()
        } catch {
            state.error = state.error ?? error
            return fallback
        }
    }
}

/// A row with declared columns for other programs.
public protocol TableRow: Sendable {
    static var tableName: String { get }
    static func tableColumns(_ context: TableContext) -> [TableColumn<Self>]
    /// Those of these columns that show rows of reduced places otherwise.
    /// - Parameter precision: that of the places; nil if they are as exact as they were sent.
    static func reduced(_ columns: [TableColumn<Self>], to precision: PlacePrecision?) -> [TableColumn<Self>]
}

extension TableRow {
    public static func reduced(_ columns: [TableColumn<Self>], to precision: PlacePrecision?) -> [TableColumn<Self>] { columns }

    public static func tableSchema(_ context: TableContext = TableContext()) -> TableSchema {
        TableSchema(name: tableName, columns: tableColumns(context).map(\.schema))
    }
}

extension TableRow where Self: QueryRow {
    public static var tableName: String { table }

    /// For rows of dropped events: the older recipe that made them. No column if there are no such rows.
    static func olderRecipe(
        _ context: TableContext, of sequence: @escaping @Sendable (Self) -> UInt64
    ) -> [TableColumn<Self>] {
        guard let origins = context.origins(of: view) else { return [] }
        return [
            TableColumn(
                "older_recipe", .name { origins.olderRecipe(of: sequence($0)) }, isContextual: true,
                meaning: "The older recipe that made the row.")
        ]
    }
}
