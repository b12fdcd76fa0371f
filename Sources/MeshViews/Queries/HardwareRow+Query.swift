public import ViewQuery

extension HardwareRow: QueryRow {
    public static let view = "nodehistory"
    public static let table = "hardware"

    public static let columns: [RowColumn<HardwareRow>] = [
        RowColumn(key: "model", \.model) { $0.model },
        RowColumn(key: "node", \.node) { $0.node }.shown(as: .node),
        RowColumn("time", \.time) { $0.time }.stored(1).shown(as: .time),
        RowColumn("firstTime", \.firstTime) { $0.firstTime }.stored(2).shown(as: .time),
        RowColumn("firstSequence", \.firstSequence) { $0.firstSequence }.stored(3),
        RowColumn("sequence", \.sequence) { $0.sequence }.stored(4),
        RowColumn("count", \.count) { $0.count }.stored(5),
        RowColumn("firmware", \.firmware) { $0.firmware }.stored(6),
        RowColumn("target", \.target) { $0.target }.stored(7),
    ]

    public init?(key: RawSpan, value: RawSpan) {
        guard let row = Self.decode(key: key, value: value) else { return nil }
        self = row
    }
}
