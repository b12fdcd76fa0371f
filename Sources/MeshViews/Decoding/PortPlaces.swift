import EventLog
import Meshtastic

/// The positions in a batch of events that only some views use, so that those views can skip the others.
struct PortPlaces: Sendable {
    /// The lists that views request, in the order of the log.
    enum List: Int, CaseIterable {
        case waypoints
        /// Trace routes, and positions, which locate their hops.
        case tracks
        /// Announcements of nodes about themselves: to all, to the map, and to the client of their radio.
        case introductions
        case mapReports
        case sensors
        /// What radios send to their clients besides packets.
        case frames

        var bit: UInt8 { 1 << UInt8(rawValue) }
    }

    private static let listsOfPort: [UInt8] = {
        var lists = [UInt8](repeating: 0, count: Int(Port.highest) + 1)
        func add(_ ports: [UInt32], _ list: List) {
            for port in ports { lists[Int(port)] |= list.bit }
        }
        add([Port.waypoint], .waypoints)
        add([Port.traceroute, Port.position], .tracks)
        add([Port.nodeInfo, Port.mapReport], .introductions)
        add([Port.mapReport], .mapReports)
        add(SensorKind.allCases.map(\.port), .sensors)
        return lists
    }()

    private var places: [[Int32]] = Array(repeating: [], count: List.allCases.count)

    /// The places in `packets` and `stamps`.
    subscript(list: List) -> [Int32] { places[list.rawValue] }

    mutating func removeAll() {
        for index in places.indices { places[index].removeAll(keepingCapacity: true) }
    }

    mutating func fill(from packets: [DecodedPacket]) {
        let lists = Self.listsOfPort
        for index in packets.indices {
            var mask: UInt8 = 0
            if packets[index].port != 0 {
                let port = Int(packets[index].port)
                if port < lists.count { mask = lists[port] }
            } else if packets[index].fromRadio != 0, !packets[index].hasPacket {
                mask = List.frames.bit | Self.introduction(packets[index].fromRadio)
            }
            guard mask != 0 else { continue }
            for place in places.indices where mask & (1 << UInt8(place)) != 0 { places[place].append(Int32(index)) }
        }
    }

    private static func introduction(_ variant: UInt8) -> UInt8 {
        switch variant {
        case FromRadioVariant.myInfo, FromRadioVariant.nodeInfo, FromRadioVariant.metadata: List.introductions.bit
        default: 0
        }
    }
}

extension MeshBatch {
    /// Visits the events of a list that come after a view's checkpoint.
    @inline(__always)
    func forEach(
        _ list: PortPlaces.List, after checkpoint: EventSequence, _ body: (DecodedPacket, Stamp) -> Void
    ) {
        for place in places[list] where stamps[Int(place)].sequence > checkpoint.rawValue {
            body(packets.packets[Int(place)], stamps[Int(place)])
        }
    }

    func channelName(_ stamp: Stamp) -> String { stamp.channel >= 0 ? channels[Int(stamp.channel)].name : "" }
}
