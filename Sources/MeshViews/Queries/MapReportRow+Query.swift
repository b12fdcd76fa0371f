public import ViewQuery

extension MapReportRow: QueryRow {
    public static let view = "mapreports"
    public static let table = "mapreports"

    public static let columns: [RowColumn<MapReportRow>] = [
        RowColumn(key: "node", \.node) { $0.node }.shown(as: .node),
        RowColumn("time", \.time) { $0.time }.shown(as: .time),
        RowColumn("timeSource", \.timeSource) { $0.timeSource },
        RowColumn("firstTime", \.firstTime) { $0.firstTime }.shown(as: .time),
        RowColumn("firstSequence", \.firstSequence) { $0.firstSequence },
        RowColumn("sequence", \.sequence) { $0.sequence },
        RowColumn("reports", \.reports) { $0.reports },
        RowColumn("longName", \.longName) { $0.longName },
        RowColumn("shortName", \.shortName) { $0.shortName },
        RowColumn("role", \.role) { $0.role },
        RowColumn("hardwareModel", \.hardwareModel) { $0.hardwareModel },
        RowColumn("firmware", \.firmware) { $0.firmware },
        RowColumn("region", \.region) { $0.region },
        RowColumn("modemPreset", \.modemPreset) { $0.modemPreset },
        RowColumn("hasDefaultChannel", \.hasDefaultChannel) { $0.hasDefaultChannel },
        RowColumn("latitudeE7", \.latitudeE7) { $0.latitudeE7 },
        RowColumn("longitudeE7", \.longitudeE7) { $0.longitudeE7 },
        RowColumn("latitude", \.latitude) { $0.latitude }.computed(),
        RowColumn("longitude", \.longitude) { $0.longitude }.computed(),
        RowColumn("altitude", \.altitude) { $0.altitude }.shown(as: .meters),
        RowColumn("precisionBits", \.precisionBits) { $0.precisionBits },
        RowColumn("onlineLocalNodes", \.onlineLocalNodes) { $0.onlineLocalNodes },
        RowColumn("mostOnlineLocalNodes", \.mostOnlineLocalNodes) { $0.mostOnlineLocalNodes },
        RowColumn("hasOptedReportLocation", \.hasOptedReportLocation) { $0.hasOptedReportLocation },
        RowColumn("channel", \.channel) { $0.channel },
    ]

    public init?(key: RawSpan, value: RawSpan) {
        guard let row = Self.decode(key: key, value: value) else { return nil }
        self = row
    }
}
