public import MeshLedger

extension WaypointRow: TableRow {
    public static func tableColumns(_ context: TableContext) -> [TableColumn<WaypointRow>] {
        let now = context.now
        return tableColumns(
            first: """
                id state name details icon latitude longitude expire locked_to creator from time time_source to channel gateway \
                geofence_radius bounding_box
                """, last: "packet_id first_sequence sequence",
            and: [
                TableColumn(
                    "state", .name { $0.state(at: now).rawValue }.named(.these(State.allCases.map(\.rawValue))),
                    isContextual: true, meaning: "Whether it is on the map now."),
                TableColumn("latitude", .optional { $0.latitude }, of: \.latitude, unit: "°", meaning: Meaning.latitude),
                TableColumn("longitude", .optional { $0.longitude }, of: \.longitude, unit: "°", meaning: Meaning.longitude),
                TableColumn(
                    "bounding_box", .json { $0.boundingBox?.cell ?? .null }, of: \.boundingBox, unit: "°",
                    meaning: "Its edges."),
            ]) + olderRecipe(context) { $0.sequence }
    }
}

extension Waypoint.BoundingBox {
    fileprivate var cell: CellValue {
        let edges = [("west", westE7), ("south", southE7), ("east", eastE7), ("north", northE7)]
        return .object(edges.map { CellMember(name: $0.0, value: .double(Double($0.1) / 1e7)) })
    }
}
