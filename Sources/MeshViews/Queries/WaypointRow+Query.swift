import Projections
import ProtobufWire
public import ViewQuery

extension WaypointRow: QueryRow {
    public static let view = "waypoints"
    public static let table = "waypoints"

    public static let columns: [RowColumn<WaypointRow>] = [
        RowColumn(key: "id", \.id) { $0.id },
        RowColumn("time", \.time) { $0.time }.stored(1).shown(as: .time),
        RowColumn("timeSource", \.timeSource) { $0.timeSource }.stored(2),
        RowColumn("sequence", \.sequence) { $0.sequence }.stored(3),
        RowColumn("firstSequence", \.firstSequence) { $0.firstSequence }.stored(4),
        RowColumn("packetID", \.packetID) { $0.packetID }.stored(5),
        RowColumn("creator", \.creator) { $0.creator }.stored(6).shown(as: .node),
        RowColumn("from", \.from) { $0.from }.stored(7).shown(as: .node),
        RowColumn("to", \.to) { $0.to }.stored(8).shown(as: .node),
        RowColumn("channel", \.channel) { $0.channel }.stored(9),
        RowColumn("gateway", \.gateway) { $0.gateway }.stored(10).shown(as: .node),
        RowColumn("latitudeE7", \.latitudeE7) { $0.latitudeE7 }.stored(11),
        RowColumn("longitudeE7", \.longitudeE7) { $0.longitudeE7 }.stored(12),
        RowColumn("latitude", \.latitude) { $0.latitude }.stored(11).computed(),
        RowColumn("longitude", \.longitude) { $0.longitude }.stored(12).computed(),
        RowColumn("expire", \.expire) { $0.expire }.stored(13).shown(as: .time),
        RowColumn("lockedTo", \.lockedTo) { $0.lockedTo }.stored(14).shown(as: .node),
        RowColumn("name", \.name) { $0.name }.stored(15),
        RowColumn("details", \.details) { $0.details }.stored(16),
        RowColumn("icon", \.icon) { $0.icon }.stored(17),
        RowColumn("geofenceRadius", \.geofenceRadius) { $0.geofenceRadius }.stored(18).shown(as: .meters),
        RowColumn("boundingBox", \.boundingBox) { $0.boundingBox }.stored(19, 20, 21, 22),
        RowColumn("notifiesOnEnter", \.notifiesOnEnter) { $0.notifiesOnEnter }.stored(23),
        RowColumn("notifiesOnExit", \.notifiesOnExit) { $0.notifiesOnExit }.stored(24),
        RowColumn("notifiesFavoritesOnly", \.notifiesFavoritesOnly) { $0.notifiesFavoritesOnly }.stored(25),
        RowColumn("isDeleted", \.isDeleted) { $0.isDeleted }.stored(26),
        RowColumn("changes", \.changes) { $0.changes }.stored(27),
        RowColumn("refusedChanges", \.refusedChanges) { $0.refusedChanges }.stored(28),
    ]

    public static let texts: [RowText<WaypointRow>] = [
        RowText("name", \.name, field: 15) { $0.name },
        RowText("details", \.details, field: 16) { $0.details },
    ]

    public static let indexes: [RowIndex<WaypointRow>] = [.index(\.expire)]

    public init?(key: RawSpan, value: RawSpan) {
        guard let row = Self.decode(key: key, value: value) else { return nil }
        self = row
    }
}
