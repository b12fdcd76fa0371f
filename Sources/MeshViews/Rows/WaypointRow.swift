public import Meshtastic
import ProtobufWire

/// A place that somebody shares, as the newest change that counted left it.
///
/// Key in the `waypoints` table: its id, 4 bytes big-endian. Value: `Waypoint` of `views.proto`.
public struct WaypointRow: Sendable, Equatable, KeyedRow {
    /// Whether it is on the map.
    public enum State: String, Sendable, CaseIterable {
        case active, expired, deleted
    }

    public let id: UInt32
    /// Of the last change, seconds since 1970, and whose clock that is.
    public var time: UInt32 = 0
    public var timeSource = TimeSource.arrival
    /// The event of the last change, and that of the first one.
    public var sequence: UInt64 = 0
    public var firstSequence: UInt64 = 0
    public var packetID: UInt32 = 0
    /// Who sent the earliest of its contents, and who changed it last.
    public var creator: UInt32 = 0
    public var from: UInt32 = 0
    /// Whom the last change was sent to.
    public var to: UInt32 = 0
    public var channel = ""
    /// The gateway of the last change's first readable reception, 0 = unknown.
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
    /// A Unicode code point; 0 = none.
    public var icon: UInt32 = 0
    /// Metres; 0 = none.
    public var geofenceRadius: UInt32 = 0
    public var boundingBox: Waypoint.BoundingBox?
    public var notifiesOnEnter = false
    public var notifiesOnExit = false
    public var notifiesFavoritesOnly = false
    /// Whoever may change it took it away; it keeps what it was.
    public var isDeleted = false
    /// When the newest change that is no deletion was made; 0 where only a deletion is known.
    var contentTime: UInt32 = 0
    /// When the earliest was.
    var createdTime: UInt32 = 0
    /// Changes that counted, the first and the deletion included, and those that the lock forbade.
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

    static let keyLength = 4
    var storedSize: Int { 300 }
    var key: UInt64 { UInt64(id) }

    func isOf(_ node: ForgottenNode) -> Bool {
        if creator == node.number || from == node.number { return true }
        return node.includesMentions && (lockedTo == node.number || to == node.number)
    }

    func encode(to writer: inout WireWriter) {
        writer.fixed32(1, time)
        writer.varint(2, UInt64(timeSource.rawValue))
        writer.varint(3, sequence)
        writer.varint(4, firstSequence)
        writer.fixed32(5, packetID)
        writer.fixed32(6, creator)
        writer.fixed32(7, from)
        writer.fixed32(8, to)
        if !channel.isEmpty { writer.string(9, channel) }
        if gateway != 0 { writer.fixed32(10, gateway) }
        if let latitudeE7 { writer.sfixed32(11, latitudeE7) }
        if let longitudeE7 { writer.sfixed32(12, longitudeE7) }
        writer.present(13, expire)
        if lockedTo != 0 { writer.fixed32(14, lockedTo) }
        if !name.isEmpty { writer.string(15, name) }
        if !details.isEmpty { writer.string(16, details) }
        if icon != 0 { writer.fixed32(17, icon) }
        writer.present(18, geofenceRadius)
        if let boundingBox {
            writer.sfixed32(19, boundingBox.westE7)
            writer.sfixed32(20, boundingBox.southE7)
            writer.sfixed32(21, boundingBox.eastE7)
            writer.sfixed32(22, boundingBox.northE7)
        }
        if notifiesOnEnter { writer.bool(23, true) }
        if notifiesOnExit { writer.bool(24, true) }
        if notifiesFavoritesOnly { writer.bool(25, true) }
        if isDeleted { writer.bool(26, true) }
        writer.varint(27, UInt64(changes))
        writer.present(28, refusedChanges)
        if contentTime != 0 { writer.fixed32(29, contentTime) }
        if createdTime != 0 { writer.fixed32(30, createdTime) }
    }

    init(key: UInt64, decoding value: RawSpan) throws(WireError) {
        self.init(id: UInt32(truncatingIfNeeded: key))
        var reader = WireReader(value)
        while let field = try reader.next() { decode(field, reader) }
    }

    private mutating func decode(_ field: WireField, _ reader: borrowing WireReader) {
        switch field.number {
        case 1: time = field.asUInt32
        case 2: timeSource = TimeSource(rawValue: UInt8(truncatingIfNeeded: field.scalar)) ?? .arrival
        case 3: sequence = field.scalar
        case 4: firstSequence = field.scalar
        case 5: packetID = field.asUInt32
        case 6: creator = field.asUInt32
        case 7: from = field.asUInt32
        case 8: to = field.asUInt32
        case 9: channel = reader.string(field)
        case 10: gateway = field.asUInt32
        case 11: latitudeE7 = field.asInt32
        case 12: longitudeE7 = field.asInt32
        case 13: expire = field.asUInt32
        case 14: lockedTo = field.asUInt32
        case 15: name = reader.string(field)
        case 16: details = reader.string(field)
        case 17: icon = field.asUInt32
        case 18: geofenceRadius = field.asUInt32
        case 19...22: decodeEdge(field)
        case 23: notifiesOnEnter = field.asBool
        case 24: notifiesOnExit = field.asBool
        case 25: notifiesFavoritesOnly = field.asBool
        case 26: isDeleted = field.asBool
        case 27: changes = field.asUInt32
        case 28: refusedChanges = field.asUInt32
        case 29: contentTime = field.asUInt32
        case 30: createdTime = field.asUInt32
        default: break
        }
    }

    private mutating func decodeEdge(_ field: WireField) {
        var box = boundingBox ?? Waypoint.BoundingBox()
        switch field.number {
        case 19: box.westE7 = field.asInt32
        case 20: box.southE7 = field.asInt32
        case 21: box.eastE7 = field.asInt32
        default: box.northE7 = field.asInt32
        }
        boundingBox = box
    }
}
