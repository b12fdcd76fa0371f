import Projections
import ProtobufWire
public import ViewQuery

extension LinkRow: QueryRow {
    public static let view = "links"
    public static let table = "links"

    public static let columns: [RowColumn<LinkRow>] = [
        RowColumn(key: "hearer", \.hearer) { $0.hearer }.shown(as: .node),
        RowColumn(key: "heard", \.heard) { $0.heard }.shown(as: .node),
        RowColumn("time", \.time) { $0.time }.stored(1).shown(as: .time),
        RowColumn("firstTime", \.firstTime) { $0.firstTime }.stored(2).shown(as: .time),
        RowColumn("firstSequence", \.firstSequence) { $0.firstSequence }.stored(3),
        RowColumn("sequence", \.sequence) { $0.sequence }.stored(4),
        RowColumn("direct", \.direct) { $0.direct }.stored(5),
        RowColumn("reported", \.reported) { $0.reported }.stored(6),
        RowColumn("traced", \.traced) { $0.traced }.stored(7),
        RowColumn("count", \.count) { $0.count }.stored(5, 6, 7).computed(),
        RowColumn("snr", \.snr) { $0.snr }.stored(8).shown(as: .decibels),
        RowColumn("evidence", \.evidence) { $0.evidence }.stored(9),
        RowColumn("rssi", \.rssi) { $0.rssi }.stored(10).shown(as: .dBm),
        RowColumn("samples", \.samples) { $0.samples }.stored(11, 12, 13),
    ]

    public static let indexes: [RowIndex<LinkRow>] = [.index(\.heard)]

    public init?(key: RawSpan, value: RawSpan) {
        guard let row = Self.decode(key: key, value: value) else { return nil }
        self = row
    }
}
