import MeshLedger
import Meshtastic
import Projections
import ViewQuery

/// A row for lists, tables and exports. Its columns are in the folder `Columns`.
protocol ShownRow: ViewRow {
    static func shown(in ledger: Ledger) throws -> [Column<Self>]

    /// The event that determines which recipe made the row.
    var origin: UInt64 { get }
}

extension ShownRow {
    var origin: UInt64 { sequence }
}

extension Ledger {
    /// The columns of such rows.
    func columns<Row: ShownRow>(_ type: Row.Type) throws -> [Column<Row>] { try Row.shown(in: self) + olderRecipeColumn() }

    func telemetryColumns(of kind: TelemetryKind?, only: Set<UInt32>? = nil) throws -> [Column<TelemetryRow>] {
        try TelemetryRow.columns(of: kind, only: only) + olderRecipeColumn()
    }

    /// For rows of dropped events: the older recipe that made them. No column if there are no such rows.
    private func olderRecipeColumn<Row: ShownRow>() throws -> [Column<Row>] {
        let origins = try rowOrigins(of: Row.view)
        guard !origins.isEmpty else { return [] }
        return [Column("older_recipe", isDetail: true) { .optional(origins.olderRecipe(of: $0.origin) ?? "") }]
    }
}
