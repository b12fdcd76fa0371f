public import ViewQuery

extension GatewayRow: QueryRow {
    public static let view = "gateways"
    public static let table = "gateways"

    public static let columns: [RowColumn<GatewayRow>] = [
        RowColumn(key: "gateway", \.gateway) { $0.gateway }.shown(as: .node),
        RowColumn("time", \.time) { $0.time }.stored(1).shown(as: .time),
        RowColumn("firstTime", \.firstTime) { $0.firstTime }.stored(2).shown(as: .time),
        RowColumn("firstSequence", \.firstSequence) { $0.firstSequence }.stored(3),
        RowColumn("sequence", \.sequence) { $0.sequence }.stored(4),
        RowColumn("receptions", \.receptions) { $0.receptions }.stored(5),
        RowColumn("packets", \.packets) { $0.packets }.stored(6),
        RowColumn("unreadable", \.unreadable) { $0.unreadable }.stored(7),
        RowColumn("viaMQTT", \.viaMQTT) { $0.viaMQTT }.stored(8),
        RowColumn("own", \.own) { $0.own }.stored(9),
        RowColumn("nodes", \.nodes) { $0.nodes }.stored(10),
        RowColumn("lowestSNR", \.lowestSNR) { $0.lowestSNR }.stored(11).shown(as: .decibels),
        RowColumn("highestSNR", \.highestSNR) { $0.highestSNR }.stored(12).shown(as: .decibels),
        RowColumn("lowestRSSI", \.lowestRSSI) { $0.lowestRSSI }.stored(13).shown(as: .dBm),
        RowColumn("highestRSSI", \.highestRSSI) { $0.highestRSSI }.stored(14).shown(as: .dBm),
        RowColumn("sources", \.sources) { $0.sources }.stored(15),
    ]

    public init?(key: RawSpan, value: RawSpan) {
        guard let row = Self.decode(key: key, value: value) else { return nil }
        self = row
    }
}

extension GatewayNodeRow: QueryRow {
    public static let view = "gateways"
    public static let table = "gateway_nodes"

    public static let columns: [RowColumn<GatewayNodeRow>] = [
        RowColumn(key: "gateway", \.gateway) { $0.gateway }.shown(as: .node),
        RowColumn(key: "node", \.node) { $0.node }.shown(as: .node),
        RowColumn("time", \.time) { $0.time }.stored(1).shown(as: .time),
        RowColumn("firstTime", \.firstTime) { $0.firstTime }.stored(2).shown(as: .time),
        RowColumn("firstSequence", \.firstSequence) { $0.firstSequence }.stored(3),
        RowColumn("sequence", \.sequence) { $0.sequence }.stored(4),
        RowColumn("receptions", \.receptions) { $0.receptions }.stored(5),
        RowColumn("highestSNR", \.highestSNR) { $0.highestSNR }.stored(6).shown(as: .decibels),
    ]

    public init?(key: RawSpan, value: RawSpan) {
        guard let row = Self.decode(key: key, value: value) else { return nil }
        self = row
    }
}
