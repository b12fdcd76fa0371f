package import Projections
package import ViewQuery

/// The views of a ledger, in the order in which they are listed. What else a new view touches is in `.github/CONTRIBUTING.md`.
package enum ViewRegistry {
    package static func projections(_ caps: ViewCaps) -> [any BuiltInView] {
        [
            NodesView(cap: caps.nodes, kept: caps.keptNodes),
            PositionsView(caps),
            TelemetryView(caps),
            MessagesView(cap: caps.messages),
            WaypointsView(cap: caps.waypoints),
            TraceRoutesView(cap: caps.traceRoutes),
            LinksView(cap: caps.links),
            GatewaysView(cap: caps.gateways, pairCap: caps.gatewayNodes),
            MapReportsView(cap: caps.mapReports),
            SensorsView(caps),
            NodeHistoryView(cap: caps.nodeHistory, nodeCap: caps.nodes),
            RadiosView(cap: caps.radios),
            DecisionsView(),
            EventIndex(),
        ]
    }

    private static let declared: [(view: String, tables: [DeclaredTable])] = {
        func tables<View: BuiltInView>(_ view: View) -> (String, [DeclaredTable]) { (view.name, View.tables) }
        return projections(ViewCaps()).map { tables($0) }
    }()

    /// The tables of each view.
    package static let tables = Dictionary(declared.map { ($0.view, $0.tables) }) { first, _ in first }

    /// The rows of the views, by which generic queries read them: first those of the tables with their view's name.
    package static let rows: [any QueryRow.Type] = {
        let rows = declared.flatMap(\.tables).compactMap(\.row)
        return rows.filter { $0.table == $0.view } + rows.filter { $0.table != $0.view }
    }()

    /// The projection of a custom view.
    package static func projection<View: LedgerView>(_ view: View.Type) -> any Projection<MeshBatch> { CustomProjection<View>() }

    /// Builds the tables that follow from the rows of a custom view.
    package static func makeState<View: LedgerView>(of view: View.Type, in store: ViewStore) throws {
        try RowTable(View.cap, store).makeState()
    }

    /// The types with a time, by their tables.
    package static let kinds: [String: any ViewRow.Type] = {
        var kinds: [String: any ViewRow.Type] = [:]
        for row in rows { kinds[row.table] = row as? any ViewRow.Type }
        return kinds
    }()
}
