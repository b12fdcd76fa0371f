public import ViewQuery

extension GatewayRow: QueryRow {
    public static let view = "gateways"
    public static let table = "gateways"

    public static let columns: [RowColumn<GatewayRow>] = [
        RowColumn(key: "gateway", \.gateway) { $0.gateway }.shown(as: .node),
        RowColumn("time", \.time) { $0.time }.shown(as: .time),
        RowColumn("firstTime", \.firstTime) { $0.firstTime }.shown(as: .time),
        RowColumn("firstSequence", \.firstSequence) { $0.firstSequence },
        RowColumn("sequence", \.sequence) { $0.sequence },
        RowColumn("receptions", \.receptions) { $0.receptions },
        RowColumn("packets", \.packets) { $0.packets },
        RowColumn("unreadable", \.unreadable) { $0.unreadable },
        RowColumn("viaMQTT", \.viaMQTT) { $0.viaMQTT },
        RowColumn("own", \.own) { $0.own },
        RowColumn("nodes", \.nodes) { $0.nodes },
        RowColumn("lowestSNR", \.lowestSNR) { $0.lowestSNR }.shown(as: .decibels),
        RowColumn("highestSNR", \.highestSNR) { $0.highestSNR }.shown(as: .decibels),
        RowColumn("lowestRSSI", \.lowestRSSI) { $0.lowestRSSI }.shown(as: .dBm),
        RowColumn("highestRSSI", \.highestRSSI) { $0.highestRSSI }.shown(as: .dBm),
        RowColumn("sources", \.sources) { $0.sources },
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
        RowColumn("time", \.time) { $0.time }.shown(as: .time),
        RowColumn("firstTime", \.firstTime) { $0.firstTime }.shown(as: .time),
        RowColumn("firstSequence", \.firstSequence) { $0.firstSequence },
        RowColumn("sequence", \.sequence) { $0.sequence },
        RowColumn("receptions", \.receptions) { $0.receptions },
        RowColumn("highestSNR", \.highestSNR) { $0.highestSNR }.shown(as: .decibels),
    ]

    public init?(key: RawSpan, value: RawSpan) {
        guard let row = Self.decode(key: key, value: value) else { return nil }
        self = row
    }
}
