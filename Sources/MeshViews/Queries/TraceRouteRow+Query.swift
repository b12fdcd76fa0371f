import Projections
import ProtobufWire
public import ViewQuery

extension TraceRouteRow: QueryRow {
    public static let view = "traceroutes"
    public static let table = "traceroutes"

    public static let columns: [RowColumn<TraceRouteRow>] = [
        RowColumn(key: "from", \.from) { $0.from }.shown(as: .node),
        RowColumn(key: "id", \.id) { $0.id },
        RowColumn("to", \.to) { $0.to }.stored(3).shown(as: .node),
        RowColumn("time", \.time) { $0.time }.stored(1).shown(as: .time),
        RowColumn("timeSource", \.timeSource) { $0.timeSource }.stored(2),
        RowColumn("firstSequence", \.firstSequence) { $0.firstSequence }.stored(4),
        RowColumn("sequence", \.sequence) { $0.sequence }.stored(5),
        RowColumn("requestSequence", \.requestSequence) { $0.requestSequence }.stored(6),
        RowColumn("replySequence", \.replySequence) { $0.replySequence }.stored(7),
        RowColumn("replyID", \.replyID) { $0.replyID }.stored(8),
        RowColumn("replyTime", \.replyTime) { $0.replyTime }.stored(9).shown(as: .time),
        RowColumn("isAnswered", \.isAnswered) { $0.isAnswered }.computed(),
        RowColumn("channel", \.channel) { $0.channel }.stored(10),
        RowColumn("route", \.route) { $0.route }.stored(11).shown(as: .node),
        RowColumn("snrTowards", \.snrTowards) { $0.snrTowards }.stored(12),
        RowColumn("routeBack", \.routeBack) { $0.routeBack }.stored(13).shown(as: .node),
        RowColumn("snrBack", \.snrBack) { $0.snrBack }.stored(14),
        RowColumn("places", \.places) { $0.places }.stored(15, 16, 17, 18),
    ]

    public static let indexes: [RowIndex<TraceRouteRow>] = [.index(\.to, \.time)]

    public init?(key: RawSpan, value: RawSpan) {
        guard let row = Self.decode(key: key, value: value) else { return nil }
        self = row
    }
}
