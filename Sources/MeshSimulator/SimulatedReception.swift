/// One reception of a simulated packet, as a gateway publishes it.
public struct SimulatedReception: Sendable {
    /// A ServiceEnvelope, or what is left of one.
    public var envelope: [UInt8]
    /// Seconds since 1970 when the gateway heard it.
    public var time: UInt32
    public var topic: String
    /// What is in it.
    public var fact: SimulatedFact
}

/// What a reception holds: known because it was made so, not because a decoder says so.
public struct SimulatedFact: Sendable, Equatable {
    /// What a view makes of the packet.
    public enum Row: Sendable, Equatable {
        case none
        case position
        /// The field number of the metrics in `Telemetry`, and whether all of them are finite numbers.
        case telemetry(kind: UInt32, isFinite: Bool)
        case message
        /// A payload that breaks the wire format, or a place that is not on the globe: nothing but a line in a quarantine.
        case quarantine
    }

    /// The number of the transmission: all receptions of it are of one packet.
    public var transmission: UInt64 = 0
    public var from: UInt32 = 0
    public var port: UInt32 = 0
    public var isDirect = false
    public var row = Row.none
    public var channel = ""
    /// The channel's index in the gateway's radio.
    public var channelIndex: UInt32 = 0
    public var isEncrypted = false
    /// Whether somebody who knows every key but the foreign channel's can read it.
    public var isReadable = true
    /// Whether the bytes hold no packet any more.
    public var isDamaged = false
}
