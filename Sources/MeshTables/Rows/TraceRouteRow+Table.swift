public import MeshLedger

extension TraceRouteRow: TableRow {
    public static func tableColumns(_ context: TableContext) -> [TableColumn<TraceRouteRow>] {
        tableColumns(
            first: "time from to is_answered hops towards back id time_source reply_id reply_time channel",
            last: "first_sequence sequence",
            and: [
                TableColumn("is_answered", .number { $0.isAnswered }, of: \.isAnswered),
                TableColumn(
                    "hops", .optional { $0.isAnswered ? UInt32(clamping: $0.route.count) : nil }, from: \.isAnswered, \.route,
                    meaning: "Nodes between both."),
                TableColumn("towards", .json { $0.cell($0.towards) }, meaning: "The hops there, with strengths and places."),
                TableColumn("back", .json { $0.cell($0.back) }, meaning: "The hops back, with strengths and places."),
                TableColumn(
                    "reply_id", .optional { $0.isAnswered ? $0.replyID : nil }, of: \.replyID, \.isAnswered,
                    meaning: "The id of the answer."),
            ]) + olderRecipe(context) { $0.sequence }
    }

    /// Each hop with its place at that time.
    private func cell(_ hops: [Hop]) -> CellValue {
        .list(
            hops.map { hop in
                let place = place(of: hop.node)
                return .object([
                    CellMember(name: "node", value: hop.node.map { .text(NodeID.text($0)) } ?? .null),
                    CellMember(name: "snr", value: .float(hop.snr)),
                    CellMember(name: "latitude", value: .optional(place?.latitude)),
                    CellMember(name: "longitude", value: .optional(place?.longitude)),
                    CellMember(name: "place_time", value: .time(place?.time ?? 0)),
                ])
            })
    }
}
