/// The message types of payloads, as far as their acceptance needs them: field numbers and wire types.
enum MessageShape: UInt8 {
    case hardwareMessage, position, user, routing, routeDiscovery, admin, waypoint, boundingBox, keyVerification, remoteShell
    case paxcount, storeForwardPlusPlus, statusMessage, meshBeacon, storeAndForward, statistics, history, heartbeat
    case telemetry, deviceMetrics, environmentMetrics, airQualityMetrics, powerMetrics, localStats, healthMetrics, hostMetrics
    case trafficStats, soilWaterMetrics, compressed, neighborInfo, neighbor, mapReport, anyMessage

    struct Fields {
        /// A bit for each field number that is a varint; likewise the others.
        var varints: UInt64
        var fixed32s: UInt64
        var lengths: UInt64
        /// Length-delimited fields whose content has to parse.
        var nested: UInt64
        var highest: UInt32

        init(varints: UInt64 = 0, fixed32s: UInt64 = 0, lengths: UInt64 = 0, nested: UInt64 = 0, highest: UInt32) {
            self.varints = varints
            self.fixed32s = fixed32s
            self.lengths = lengths | nested
            self.nested = nested
            self.highest = highest
        }
    }

    enum Inside {
        case message(MessageShape)
        case packedFixed32
        case packedVarints
        case bytes
    }

    /// The message type of a port; nil if its payload is not a message, or not known.
    @inline(__always)
    init?(port: UInt32) {
        switch port {
        case Port.remoteHardware: self = .hardwareMessage
        case Port.position: self = .position
        case Port.nodeInfo: self = .user
        case Port.routing: self = .routing
        case Port.admin: self = .admin
        case Port.waypoint: self = .waypoint
        case Port.keyVerification: self = .keyVerification
        case Port.remoteShell: self = .remoteShell
        case Port.paxcounter: self = .paxcount
        case Port.storeForwardPlusPlus: self = .storeForwardPlusPlus
        case Port.nodeStatus: self = .statusMessage
        case Port.meshBeacon: self = .meshBeacon
        case Port.storeForward: self = .storeAndForward
        case Port.telemetry: self = .telemetry
        case Port.simulator: self = .compressed
        case Port.traceroute: self = .routeDiscovery
        case Port.neighborInfo: self = .neighborInfo
        case Port.mapReport: self = .mapReport
        default: return nil
        }
    }
}
