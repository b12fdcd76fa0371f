public import ViewQuery

extension TraceRouteRow: QueryRow {
    public static let view = "traceroutes"
    public static let table = "traceroutes"

    public static let columns: [RowColumn<TraceRouteRow>] = [
        RowColumn(key: "from", \.from) { $0.from },
        RowColumn(key: "id", \.id) { $0.id },
        RowColumn("to", \.to) { $0.to },
        RowColumn("time", \.time) { $0.time },
        RowColumn("timeSource", \.timeSource) { $0.timeSource },
        RowColumn("firstSequence", \.firstSequence) { $0.firstSequence },
        RowColumn("sequence", \.sequence) { $0.sequence },
        RowColumn("requestSequence", \.requestSequence) { $0.requestSequence },
        RowColumn("replySequence", \.replySequence) { $0.replySequence },
        RowColumn("replyID", \.replyID) { $0.replyID },
        RowColumn("replyTime", \.replyTime) { $0.replyTime },
        RowColumn("channel", \.channel) { $0.channel },
        RowColumn("route", \.route) { $0.route },
        RowColumn("snrTowards", \.snrTowards) { $0.snrTowards },
        RowColumn("routeBack", \.routeBack) { $0.routeBack },
        RowColumn("snrBack", \.snrBack) { $0.snrBack },
        RowColumn("isAnswered", \.isAnswered) { $0.isAnswered },
    ]

    public init?(key: RawSpan, value: RawSpan) {
        guard let row = Self.decode(key: key, value: value) else { return nil }
        self = row
    }
}
