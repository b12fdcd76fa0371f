import Projections
import ProtobufWire
public import ViewQuery

extension WaypointRow: QueryRow {
    public static let view = "waypoints"
    public static let table = "waypoints"

    public static let columns: [RowColumn<WaypointRow>] = [
        RowColumn(key: "id", \.id) { $0.id },
        RowColumn("time", \.time) { $0.time }.shown(as: .time),
        RowColumn("timeSource", \.timeSource) { $0.timeSource },
        RowColumn("sequence", \.sequence) { $0.sequence },
        RowColumn("firstSequence", \.firstSequence) { $0.firstSequence },
        RowColumn("packetID", \.packetID) { $0.packetID },
        RowColumn("creator", \.creator) { $0.creator }.shown(as: .node),
        RowColumn("from", \.from) { $0.from }.shown(as: .node),
        RowColumn("to", \.to) { $0.to }.shown(as: .node),
        RowColumn("channel", \.channel) { $0.channel },
        RowColumn("gateway", \.gateway) { $0.gateway }.shown(as: .node),
        RowColumn("latitudeE7", \.latitudeE7) { $0.latitudeE7 },
        RowColumn("longitudeE7", \.longitudeE7) { $0.longitudeE7 },
        RowColumn("latitude", \.latitude) { $0.latitude }.computed(),
        RowColumn("longitude", \.longitude) { $0.longitude }.computed(),
        RowColumn("expire", \.expire) { $0.expire }.shown(as: .time),
        RowColumn("lockedTo", \.lockedTo) { $0.lockedTo }.shown(as: .node),
        RowColumn("name", \.name) { $0.name },
        RowColumn("details", \.details) { $0.details },
        RowColumn("icon", \.icon) { $0.icon },
        RowColumn("geofenceRadius", \.geofenceRadius) { $0.geofenceRadius }.shown(as: .meters),
        RowColumn("boundingBox", \.boundingBox) { $0.boundingBox },
        RowColumn("notifiesOnEnter", \.notifiesOnEnter) { $0.notifiesOnEnter },
        RowColumn("notifiesOnExit", \.notifiesOnExit) { $0.notifiesOnExit },
        RowColumn("notifiesFavoritesOnly", \.notifiesFavoritesOnly) { $0.notifiesFavoritesOnly },
        RowColumn("isDeleted", \.isDeleted) { $0.isDeleted },
        RowColumn("changes", \.changes) { $0.changes },
        RowColumn("refusedChanges", \.refusedChanges) { $0.refusedChanges },
    ]

    public static let indexes: [RowIndex<WaypointRow>] = [.index(\.expire)]

    public init?(key: RawSpan, value: RawSpan) {
        guard let row = Self.decode(key: key, value: value) else { return nil }
        self = row
    }
}
