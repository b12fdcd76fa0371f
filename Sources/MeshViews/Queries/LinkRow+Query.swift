import Projections
import ProtobufWire
public import ViewQuery

extension LinkRow: QueryRow {
    public static let view = "links"
    public static let table = "links"

    public static let columns: [RowColumn<LinkRow>] = [
        RowColumn(key: "hearer", \.hearer) { $0.hearer }.shown(as: .node),
        RowColumn(key: "heard", \.heard) { $0.heard }.shown(as: .node),
        RowColumn("time", \.time) { $0.time }.shown(as: .time),
        RowColumn("firstTime", \.firstTime) { $0.firstTime }.shown(as: .time),
        RowColumn("firstSequence", \.firstSequence) { $0.firstSequence },
        RowColumn("sequence", \.sequence) { $0.sequence },
        RowColumn("direct", \.direct) { $0.direct },
        RowColumn("reported", \.reported) { $0.reported },
        RowColumn("traced", \.traced) { $0.traced },
        RowColumn("count", \.count) { $0.count }.computed(),
        RowColumn("snr", \.snr) { $0.snr }.shown(as: .decibels),
        RowColumn("evidence", \.evidence) { $0.evidence },
        RowColumn("rssi", \.rssi) { $0.rssi }.shown(as: .dBm),
        RowColumn("samples", \.samples) { $0.samples },
    ]

    public static let indexes: [RowIndex<LinkRow>] = [.index(\.heard)]

    public init?(key: RawSpan, value: RawSpan) {
        guard let row = Self.decode(key: key, value: value) else { return nil }
        self = row
    }
}
