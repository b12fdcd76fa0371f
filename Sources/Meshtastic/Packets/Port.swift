/// Port numbers of applications, as in `DecodedPacket.port`.
public enum Port {
    public static let text: UInt32 = 1
    public static let remoteHardware: UInt32 = 2
    public static let position: UInt32 = 3
    public static let nodeInfo: UInt32 = 4
    public static let routing: UInt32 = 5
    public static let admin: UInt32 = 6
    public static let waypoint: UInt32 = 8
    public static let detectionSensor: UInt32 = 10
    public static let alert: UInt32 = 11
    public static let keyVerification: UInt32 = 12
    public static let remoteShell: UInt32 = 13
    public static let reply: UInt32 = 32
    public static let paxcounter: UInt32 = 34
    public static let storeForwardPlusPlus: UInt32 = 35
    public static let nodeStatus: UInt32 = 36
    public static let meshBeacon: UInt32 = 37
    public static let storeForward: UInt32 = 65
    public static let rangeTest: UInt32 = 66
    public static let telemetry: UInt32 = 67
    public static let simulator: UInt32 = 69
    public static let traceroute: UInt32 = 70
    public static let neighborInfo: UInt32 = 71
    public static let atakPlugin: UInt32 = 72
    public static let mapReport: UInt32 = 73
    public static let powerStress: UInt32 = 74
    static let loRaWANBridge: UInt32 = 75
    /// The highest number that a sender may use.
    public static let highest: UInt32 = 511

    /// Whether the schema names the port, or it is in the range for private use.
    static func isKnown(_ port: UInt32) -> Bool { (256...highest).contains(port) || FieldTable.portName(port) != nil }

    /// Whether the payload of a port is a text in UTF-8.
    @inline(__always)
    public static func isText(_ port: UInt32) -> Bool {
        switch port {
        case text, detectionSensor, alert, reply, rangeTest: true
        default: false
        }
    }
}
