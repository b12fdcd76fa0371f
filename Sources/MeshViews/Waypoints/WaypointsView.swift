import EventLog
import LMDB
import Meshtastic
import Projections
import ProtobufWire

/// The places that nodes share, by id: a later packet with the same id replaces one, only the locker may change it, and an expiry in the past deletes it.
struct WaypointsView: KeyedView {
    let name = "waypoints"
    let version: UInt32 = 3
    let oldestReadableVersion: UInt32 = 2
    var policy: String { "cap=\(cap);\(TimePolicy.text)" }
    let cap: Int

    static let tables: [DeclaredTable] = [
        .rows(
            WaypointRow.self,
            ofPacket: .row { erasure, key, value in
                WaypointRow.decode(key: key, value: value).map { erasure.isOf($0.packetID, $0.from) } ?? false
            })
    ]
    var rows: KeyedRows<WaypointRow>

    init(cap: Int = 5_000) {
        self.cap = cap
        rows = KeyedRows(cap: cap)
    }

    mutating func fold(_ batch: MeshBatch, after checkpoint: EventSequence, in context: inout FoldContext) {
        batch.forEach(.waypoints, after: checkpoint) { packet, stamp in
            if packet.isReadable, packet.from != 0, packet.from != NodeID.broadcast { add(packet, stamp, batch, &context) }
        }
    }

    private mutating func add(
        _ packet: DecodedPacket, _ stamp: MeshBatch.Stamp, _ batch: MeshBatch, _ context: inout FoldContext
    ) {
        do {
            let waypoint = try Waypoint(decoding: batch.packets.payload(of: packet))
            guard waypoint.id != 0 else { return }
            if let latitude = waypoint.latitudeE7, let longitude = waypoint.longitudeE7,
                !PositionsView.isOnTheGlobe(latitude, longitude)
            {
                let place = "\(latitude), \(longitude) (degrees times 10,000,000)"
                guard stamp.isFirstReadable else { return }
                return context.quarantine(
                    EventSequence(rawValue: stamp.sequence), reason: "the waypoint at \(place) is not on the globe")
            }
            let change = WaypointChange(
                waypoint, packet, stamp, channel: stamp.channel >= 0 ? batch.channels[Int(stamp.channel)].name : "")
            if let place = rows.place(of: UInt64(waypoint.id)) {
                rows.update(place) { $0.apply(change) }
            } else {
                var row = WaypointRow(id: waypoint.id)
                row.firstSequence = stamp.sequence
                row.apply(change)
                rows.insert(row)
            }
            context.want(.immediate)
        } catch {
            // Not expected: for bytes that are not a message, the packet would have a failure.
            context.quarantine(EventSequence(rawValue: stamp.sequence), reason: "waypoint: \(error)")
        }
    }
}

/// A packet's change of a waypoint.
private struct WaypointChange {
    var waypoint: Waypoint
    var packet: DecodedPacket
    var sequence: UInt64
    var channel: String
    var time: UInt32
    var timeSource: TimeSource
    /// Another reception of a packet that was already applied.
    var isKnown: Bool

    init(_ waypoint: Waypoint, _ packet: DecodedPacket, _ stamp: MeshBatch.Stamp, channel: String) {
        self.waypoint = waypoint
        self.packet = packet
        self.channel = channel
        sequence = stamp.sequence
        isKnown = !stamp.isFirstReadable
        (time, timeSource) = (stamp.time, stamp.timeSource)
    }

    /// The time by which changes are compared: changes with only an import's time precede all others, and the last of them counts.
    var order: UInt32 { timeSource == .import ? 1 : time }

    /// An expiry that has passed on arrival.
    var isDeletion: Bool { waypoint.expire != 0 && waypoint.expire <= time }
}

extension WaypointRow {
    /// The newest change decides whether the waypoint exists, and the newest one that is not a deletion decides its contents, in whatever order they arrive.
    fileprivate mutating func apply(_ change: WaypointChange) {
        let earliest = change.timeSource == .import ? .max : change.time
        if !change.isDeletion, createdTime == 0 || earliest < createdTime {
            (creator, createdTime) = (change.packet.from, earliest)
        }
        guard change.order >= (change.isDeletion ? order : contentTime) else {
            if !change.isKnown { changes &+= 1 }
            return
        }
        // A deletion ends the lock.
        let isNew = contentTime == 0 || isDeleted && change.order >= order
        guard isNew || lockedTo == 0 || lockedTo == change.packet.from else {
            if !change.isKnown { refusedChanges &+= 1 }
            return
        }
        if !change.isKnown { changes &+= 1 }
        if change.order >= order { takeHeader(change) }
        guard !change.isDeletion else { return }
        contentTime = change.order
        fill(from: change.waypoint)
    }

    private var order: UInt32 { timeSource == .import ? 1 : time }

    private mutating func takeHeader(_ change: WaypointChange) {
        (time, timeSource, sequence) = (change.time, change.timeSource, change.sequence)
        packetID = change.packet.id
        from = change.packet.from
        to = change.packet.to
        gateway = change.packet.gateway
        channel = change.channel
        expire = change.waypoint.expire
        isDeleted = change.isDeletion
    }

    private mutating func fill(from waypoint: Waypoint) {
        let isPlaced = waypoint.latitudeE7 != nil && waypoint.longitudeE7 != nil
        latitudeE7 = isPlaced ? waypoint.latitudeE7 : nil
        longitudeE7 = isPlaced ? waypoint.longitudeE7 : nil
        lockedTo = waypoint.lockedTo
        name = waypoint.name
        details = waypoint.description
        icon = waypoint.icon
        geofenceRadius = waypoint.geofenceRadius
        boundingBox = waypoint.boundingBox
        notifiesOnEnter = waypoint.notifyOnEnter
        notifiesOnExit = waypoint.notifyOnExit
        notifiesFavoritesOnly = waypoint.notifyFavoritesOnly
    }
}
