public import ViewQuery

extension HardwareRow: QueryRow {
    public static let view = "nodehistory"
    public static let table = "hardware"

    public static let columns: [RowColumn<HardwareRow>] = [
        RowColumn(key: "model", \.model) { $0.model },
        RowColumn(key: "node", \.node) { $0.node }.shown(as: .node),
        RowColumn("time", \.time) { $0.time }.shown(as: .time),
        RowColumn("firstTime", \.firstTime) { $0.firstTime }.shown(as: .time),
        RowColumn("firstSequence", \.firstSequence) { $0.firstSequence },
        RowColumn("sequence", \.sequence) { $0.sequence },
        RowColumn("count", \.count) { $0.count },
        RowColumn("firmware", \.firmware) { $0.firmware },
        RowColumn("target", \.target) { $0.target },
    ]

    public init?(key: RawSpan, value: RawSpan) {
        guard let row = Self.decode(key: key, value: value) else { return nil }
        self = row
    }
}
