public import Meshtastic
import Projections
import ProtobufWire
public import ViewQuery

/// A place that a user shares, as the newest valid change left it.
///
/// Key in the `waypoints` table: its id, 4 bytes big-endian. Value: `Waypoint` of `views.proto`.
public struct WaypointRow: Sendable, Equatable {
    /// Whether it is on the map.
    public enum State: String, Sendable, CaseIterable {
        case active, expired, deleted
    }

    public let id: UInt32
    /// Of the last change, seconds since 1970, and the clock that it came from.
    public var time: UInt32 = 0
    public var timeSource = TimeSource.arrival
    /// The event of the last change, and that of the first one.
    public var sequence: UInt64 = 0
    public var firstSequence: UInt64 = 0
    public var packetID: UInt32 = 0
    /// The sender of its earliest content, and the sender of the last change.
    public var creator: UInt32 = 0
    public var from: UInt32 = 0
    /// The destination of the last change.
    public var to: UInt32 = 0
    public var channel = ""
    /// The gateway of the last change's first readable reception; 0 if unknown.
    public var gateway: UInt32 = 0
    /// Degrees times 10,000,000.
    public var latitudeE7: Int32?
    public var longitudeE7: Int32?
    /// Seconds since 1970; 0 for never.
    public var expire: UInt32 = 0
    /// The only node that may change it; 0 for all.
    public var lockedTo: UInt32 = 0
    public var name = ""
    public var details = ""
    /// A Unicode code point; 0 if none.
    public var icon: UInt32 = 0
    /// Metres; 0 if none.
    public var geofenceRadius: UInt32 = 0
    public var boundingBox: Waypoint.BoundingBox?
    public var notifiesOnEnter = false
    public var notifiesOnExit = false
    public var notifiesFavoritesOnly = false
    /// A node that may change it deleted it; its contents are kept.
    public var isDeleted = false
    /// When the newest change that is not a deletion was made; 0 where only a deletion is known, 1 where no time is.
    var contentTime: UInt32 = 0
    /// When the earliest such change was made; the latest of all times where it is unknown.
    var createdTime: UInt32 = 0
    /// Valid changes, including the first and the deletion, and those that the lock forbade.
    public var changes: UInt32 = 0
    public var refusedChanges: UInt32 = 0

    public init(id: UInt32) { self.id = id }

    public var latitude: Double? { latitudeE7.map { Double($0) / 1e7 } }
    public var longitude: Double? { longitudeE7.map { Double($0) / 1e7 } }

    /// - Parameter time: seconds since 1970.
    public func state(at time: UInt32) -> State {
        if isDeleted { return .deleted }
        return expire != 0 && expire <= time ? .expired : .active
    }

    // MARK: Storage

    var storedSize: Int { 300 }
    var key: UInt64 { UInt64(id) }

    var age: UInt32 { timeSource == .import ? 0 : time }

    init(key: UInt64) { self.init(id: UInt32(truncatingIfNeeded: key)) }
}

extension WaypointRow: ViewRow, DeclaredRow {
    public static let kind = "waypoint"
    public static let view = "waypoints"
    public static let table = "waypoints"

    static let declaration = RowDeclaration<WaypointRow>([
        RowColumn(key: "id", \.id) { $0.id }.table(),
        RowColumn(1, "time", \.time, as: .fixed32, .time).table("When it was changed last."),
        RowColumn(2, "timeSource", \.timeSource, as: .enumeration(or: .arrival)).table(Meaning.timeSource),
        RowColumn(3, "sequence", \.sequence, as: .varint).table(Meaning.sequence),
        RowColumn(4, "firstSequence", \.firstSequence, as: .varint).table(Meaning.firstSequence),
        RowColumn(5, "packetID", \.packetID, as: .fixed32).table(Meaning.packet),
        RowColumn(6, "creator", \.creator, as: .fixed32).naming(.owner).table("The node that made it."),
        RowColumn(7, "from", \.from, as: .fixed32).naming(.owner).table("The node that changed it last.", as: .addressee),
        RowColumn(8, "to", \.to, as: .fixed32).naming(.mention).table(Meaning.addressee, as: .addressee),
        RowColumn(9, "channel", \.channel, as: .text).table(Meaning.channel, as: .name),
        RowColumn(10, "gateway", \.gateway, as: .fixed32.unlessZero, .node).table(Meaning.gateway),
        RowColumn(11, "latitudeE7", \.latitudeE7, as: .sfixed32),
        RowColumn(12, "longitudeE7", \.longitudeE7, as: .sfixed32),
        RowColumn("latitude", \.latitude) { $0.latitude }.stored(11).computed(),
        RowColumn("longitude", \.longitude) { $0.longitude }.stored(12).computed(),
        RowColumn(13, "expire", \.expire, as: .varint.unlessZero, .time).table("When it leaves the map."),
        RowColumn(14, "lockedTo", \.lockedTo, as: .fixed32.unlessZero).naming(.mention).table(
            "The only node that may change it."),
        RowColumn(15, "name", \.name, as: .text).table(),
        RowColumn(16, "details", \.details, as: .text).table(),
        RowColumn(17, "icon", \.icon, as: .fixed32.unlessZero).table("The code of an emoji.", as: .unlessZero),
        RowColumn(18, "geofenceRadius", \.geofenceRadius, as: .varint.unlessZero, .meters).table(as: .unlessZero),
        RowColumn(19...22, "boundingBox", \.boundingBox, write: write, take: take),
        RowColumn(23, "notifiesOnEnter", \.notifiesOnEnter, as: .flag).table(),
        RowColumn(24, "notifiesOnExit", \.notifiesOnExit, as: .flag).table(),
        RowColumn(25, "notifiesFavoritesOnly", \.notifiesFavoritesOnly, as: .flag).table(),
        RowColumn(26, "isDeleted", \.isDeleted, as: .flag),
        RowColumn(27, "changes", \.changes, as: .varint).table("How often it was changed."),
        RowColumn(28, "refusedChanges", \.refusedChanges, as: .varint.unlessZero).table(
            "How many changes were refused, for it was locked."),
        RowColumn(hidden: 29, "contentTime", \.contentTime, as: .fixed32.unlessZero),
        RowColumn(hidden: 30, "createdTime", \.createdTime, as: .fixed32.unlessZero),
    ])

    public static let columns = declaration.columns

    public static let texts: [RowText<WaypointRow>] = [
        RowText("name", \.name, field: 15) { $0.name },
        RowText("details", \.details, field: 16) { $0.details },
    ]

    public static let indexes: [RowIndex<WaypointRow>] = [.index(\.expire)]

    public init?(key: RawSpan, value: RawSpan) { self.init(stored: key, value) }

    private static func write(_ box: Waypoint.BoundingBox?, to writer: inout WireWriter) {
        guard let box else { return }
        writer.sfixed32(19, box.westE7)
        writer.sfixed32(20, box.southE7)
        writer.sfixed32(21, box.eastE7)
        writer.sfixed32(22, box.northE7)
    }

    private static func take(
        _ box: inout Waypoint.BoundingBox?, _ field: WireField, _ reader: borrowing WireReader
    ) throws(WireError) {
        var edges = box ?? Waypoint.BoundingBox()
        switch field.number {
        case 19: edges.westE7 = field.asInt32
        case 20: edges.southE7 = field.asInt32
        case 21: edges.eastE7 = field.asInt32
        default: edges.northE7 = field.asInt32
        }
        box = edges
    }
}
