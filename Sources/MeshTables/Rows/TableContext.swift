public import MeshLedger

/// What columns need besides the row: names of nodes and sources, and the current time.
public struct TableContext: Sendable {
    /// By number; a node without a name is missing.
    public var nodeNames: [UInt32: String] = [:]
    public var sourceNames: [UInt32: String] = [:]
    /// Seconds since 1970.
    public var now: UInt32 = 0
    /// For each view with rows of dropped events, the older recipe that made them.
    var origins: [String: RowOrigins] = [:]

    /// For schemas only: it contains no names.
    public init() {}

    public init(_ ledger: Ledger) throws {
        var all = RowQuery()
        all.includesArchived = true
        for node in try ledger.nodes(all) {
            let name = !node.alias.isEmpty ? node.alias : node.longName.isEmpty ? node.shortName : node.longName
            if !name.isEmpty { nodeNames[node.number] = name }
        }
        sourceNames = Dictionary(uniqueKeysWithValues: try ledger.log.sources().map { ($0.id.rawValue, $0.name) })
        now = UInt32(clamping: (ledger.asOfTime ?? .now).seconds)
        for view in Set(ledger.rowNames.compactMap { ledger.rows(of: $0)?.view }) {
            let found = try ledger.rowOrigins(of: view)
            if !found.isEmpty { origins[view] = found }
        }
    }

    func source(_ number: UInt32) -> String { sourceNames[number] ?? String(number) }
}

/// A row with declared columns for other programs.
public protocol TableRow: Sendable {
    static var tableName: String { get }
    static func tableColumns(_ context: TableContext) -> [TableColumn<Self>]
}

extension TableRow {
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
        guard let origins = context.origins[view] else { return [] }
        return [
            TableColumn(
                "older_recipe", .name { origins.olderRecipe(of: sequence($0)) }, isContextual: true,
                meaning: "The older recipe that made the row.")
        ]
    }
}
