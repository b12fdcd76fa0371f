public import ViewQuery

extension MapReportRow: QueryRow {
    public static let view = "mapreports"
    public static let table = "mapreports"

    public static let columns: [RowColumn<MapReportRow>] = [
        RowColumn(key: "node", \.node) { $0.node }.shown(as: .node),
        RowColumn("time", \.time) { $0.time }.stored(1).shown(as: .time),
        RowColumn("timeSource", \.timeSource) { $0.timeSource }.stored(2),
        RowColumn("firstTime", \.firstTime) { $0.firstTime }.stored(3).shown(as: .time),
        RowColumn("firstSequence", \.firstSequence) { $0.firstSequence }.stored(4),
        RowColumn("sequence", \.sequence) { $0.sequence }.stored(5),
        RowColumn("reports", \.reports) { $0.reports }.stored(6),
        RowColumn("longName", \.longName) { $0.longName }.stored(7),
        RowColumn("shortName", \.shortName) { $0.shortName }.stored(8),
        RowColumn("role", \.role) { $0.role }.stored(9),
        RowColumn("hardwareModel", \.hardwareModel) { $0.hardwareModel }.stored(10),
        RowColumn("firmware", \.firmware) { $0.firmware }.stored(11),
        RowColumn("region", \.region) { $0.region }.stored(12),
        RowColumn("modemPreset", \.modemPreset) { $0.modemPreset }.stored(13),
        RowColumn("hasDefaultChannel", \.hasDefaultChannel) { $0.hasDefaultChannel }.stored(14),
        RowColumn("latitudeE7", \.latitudeE7) { $0.latitudeE7 }.stored(15),
        RowColumn("longitudeE7", \.longitudeE7) { $0.longitudeE7 }.stored(16),
        RowColumn("latitude", \.latitude) { $0.latitude }.stored(15).computed(),
        RowColumn("longitude", \.longitude) { $0.longitude }.stored(16).computed(),
        RowColumn("altitude", \.altitude) { $0.altitude }.stored(17).shown(as: .meters),
        RowColumn("precisionBits", \.precisionBits) { $0.precisionBits }.stored(18),
        RowColumn("onlineLocalNodes", \.onlineLocalNodes) { $0.onlineLocalNodes }.stored(19),
        RowColumn("mostOnlineLocalNodes", \.mostOnlineLocalNodes) { $0.mostOnlineLocalNodes }.stored(20),
        RowColumn("hasOptedReportLocation", \.hasOptedReportLocation) { $0.hasOptedReportLocation }.stored(21),
        RowColumn("channel", \.channel) { $0.channel }.stored(22),
    ]

    public init?(key: RawSpan, value: RawSpan) {
        guard let row = Self.decode(key: key, value: value) else { return nil }
        self = row
    }
}
