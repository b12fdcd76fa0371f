/// What the mesh has reported about one node. A node is listed from the first packet that names it as sender.
///
/// Key in the `nodes` table: its number, 4 bytes big-endian. Value: `Node` of `views.proto`.
public struct NodeRow: Sendable, Equatable, Codable {
    /// The node's number; its text form is `!` and eight hexadecimal digits.
    public var number: UInt32
    /// Names as the node sent them, invalid UTF-8 repaired; empty until it introduces itself.
    public var longName = ""
    public var shortName = ""
    /// A number of `HardwareModel`; 0 is unset.
    public var hardwareModel: UInt32 = 0
    /// A number of `Config.DeviceConfig.Role`.
    public var role: UInt32 = 0
    public var isLicensed = false
    public var isUnmessagable: Bool?
    /// The first public key that the node announced (32 bytes), or empty.
    public var publicKey: [UInt8] = []
    /// Another key was announced later under the same number.
    public var hasKeyConflict = false
    /// The firmware version from a map report.
    public var firmware = ""
    /// Seconds since 1970.
    public var firstHeard: UInt32 = 0
    public var lastHeard: UInt32 = 0
    /// Nothing says when it was heard: both times are those of imports.
    public var isTimeOfImport = false
    /// Signal of the newest reception over radio: dB, and dBm or nil.
    public var snr: Float = 0
    public var rssi: Int32?
    /// Hops between the node and the radio that last heard it, or nil when the packet did not state them.
    public var hopsAway: UInt32?
    /// The last packet crossed MQTT on its way.
    public var isViaMQTT = false
    /// Name of the channel it was last readable on.
    public var channel = ""
    /// All receptions of its packets by any gateway.
    public var receptions: UInt64 = 0
    /// Its packets, each counted once.
    public var packets: UInt64 = 0
    /// Packets of which no known key has opened any reception.
    public var unreadable: UInt64 = 0
    /// Its first and last event.
    public var firstSequence: UInt64 = 0
    public var lastSequence: UInt64 = 0
    /// A person's decisions about it, by annotations: these are no events of the node, so `lastSequence` does not include them.
    public var isFavorite = false
    public var isIgnored = false
    /// When it was archived, seconds since 1970; 0 where it is not.
    public var archivedAt: UInt32 = 0
    public var note = ""
    /// A custom name, unique among all nodes.
    public var alias = ""
    /// When each of these values was heard.
    var times = NodeTimes()

    public var isArchived: Bool { archivedAt != 0 }

    /// By which it is evicted: those of which nobody knows when they were heard go first.
    var age: UInt32 { isTimeOfImport ? 0 : lastHeard }

    /// Takes in when it was heard.
    mutating func hear(at time: RowTime) { time.widen(&firstHeard, &lastHeard, &isTimeOfImport) }

    public init(number: UInt32) { self.number = number }

    /// How much is known of a node.
    public enum State: String, Sendable, CaseIterable, Codable {
        /// It was heard, but has not introduced itself.
        case heard
        /// Its name or hardware is known, from itself or from a radio that knows it.
        case introduced
    }

    public var state: State { isKnown ? .introduced : .heard }

    /// Whether the node has introduced itself.
    public var isKnown: Bool { !longName.isEmpty || !shortName.isEmpty || hardwareModel != 0 }
}
