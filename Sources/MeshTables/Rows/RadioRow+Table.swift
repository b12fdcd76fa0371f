public import MeshLedger

extension RadioRow: TableRow {
    public static func tableColumns(_ context: TableContext) -> [TableColumn<RadioRow>] {
        let sources = context.sourceNames
        return tableColumns(
            first: "source node part time content", last: "time_source sequence",
            and: [
                TableColumn(
                    "source", .code(isNullable: false, { $0.source }, name: { sources[$0] ?? String($0) }), from: \.source,
                    isContextual: true, meaning: "The radio's source."),
                TableColumn("part", .name { $0.title }, meaning: "Which part of its settings."),
                TableColumn(
                    "content", .json { CellValue($0.dissected.json) }, meaning: "The settings by name; secrets are zeroed."),
            ]) + olderRecipe(context) { $0.sequence }
    }
}
