public import MeshLedger

extension GatewayRow: TableRow {
    public static func tableColumns(_ context: TableContext) -> [TableColumn<GatewayRow>] {
        let (names, sources) = (context.nodeNames, context.sourceNames)
        return tableColumns(
            first: "gateway name time first_time is_time_of_import receptions packets nodes own",
            last: "sources first_sequence sequence",
            and: [
                TableColumn(
                    "name", .code({ $0.gateway }, name: { names[$0] }), from: \.gateway, isContextual: true,
                    meaning: "Its present name."),
                TableColumn(
                    "sources", .texts { $0.sources.map { sources[$0] ?? String($0) } }, from: \.sources, isContextual: true,
                    meaning: "Through which it came here."),
            ]) + olderRecipe(context) { $0.sequence }
    }
}

extension GatewayNodeRow: TableRow {
    public static func tableColumns(_ context: TableContext) -> [TableColumn<GatewayNodeRow>] {
        tableColumns(last: "first_sequence sequence") + olderRecipe(context) { $0.sequence }
    }
}
