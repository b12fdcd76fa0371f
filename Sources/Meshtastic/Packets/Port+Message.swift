extension FieldTable {
    /// The message type of a port's payload; nil for texts, plain bytes and unknown ports.
    public static func messageName(ofPort port: UInt32) -> String? {
        switch port {
        case Port.remoteHardware: "HardwareMessage"
        case Port.position: "Position"
        case Port.nodeInfo: "User"
        case Port.routing: "Routing"
        case Port.admin: "AdminMessage"
        case Port.waypoint: "Waypoint"
        case Port.keyVerification: "KeyVerification"
        case Port.remoteShell: "RemoteShell"
        case Port.paxcounter: "Paxcount"
        case Port.storeForwardPlusPlus: "StoreForwardPlusPlus"
        case Port.nodeStatus: "StatusMessage"
        case Port.meshBeacon: "MeshBeacon"
        case Port.storeForward: "StoreAndForward"
        case Port.telemetry: "Telemetry"
        case Port.simulator: "Compressed"
        case Port.traceroute: "RouteDiscovery"
        case Port.neighborInfo: "NeighborInfo"
        case Port.atakPlugin: "TAKPacket"
        case Port.mapReport: "MapReport"
        case Port.powerStress: "PowerStressMessage"
        case Port.loRaWANBridge: "LoRaWANBridge"
        default: nil
        }
    }
}
