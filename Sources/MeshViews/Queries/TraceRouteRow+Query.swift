import Projections
import ProtobufWire
public import ViewQuery

extension TraceRouteRow: QueryRow {
    public static let view = "traceroutes"
    public static let table = "traceroutes"

    public static let columns: [RowColumn<TraceRouteRow>] = [
        RowColumn(key: "from", \.from) { $0.from }.shown(as: .node),
        RowColumn(key: "id", \.id) { $0.id },
        RowColumn("to", \.to) { $0.to }.shown(as: .node),
        RowColumn("time", \.time) { $0.time }.shown(as: .time),
        RowColumn("timeSource", \.timeSource) { $0.timeSource },
        RowColumn("firstSequence", \.firstSequence) { $0.firstSequence },
        RowColumn("sequence", \.sequence) { $0.sequence },
        RowColumn("requestSequence", \.requestSequence) { $0.requestSequence },
        RowColumn("replySequence", \.replySequence) { $0.replySequence },
        RowColumn("replyID", \.replyID) { $0.replyID },
        RowColumn("replyTime", \.replyTime) { $0.replyTime }.shown(as: .time),
        RowColumn("isAnswered", \.isAnswered) { $0.isAnswered }.computed(),
        RowColumn("channel", \.channel) { $0.channel },
        RowColumn("route", \.route) { $0.route }.shown(as: .node),
        RowColumn("snrTowards", \.snrTowards) { $0.snrTowards },
        RowColumn("routeBack", \.routeBack) { $0.routeBack }.shown(as: .node),
        RowColumn("snrBack", \.snrBack) { $0.snrBack },
        RowColumn("places", \.places) { $0.places },
    ]

    public static let indexes: [RowIndex<TraceRouteRow>] = [.index(\.to, \.time)]

    public init?(key: RawSpan, value: RawSpan) {
        guard let row = Self.decode(key: key, value: value) else { return nil }
        self = row
    }
}
