/// One reception of a simulated packet, as a gateway publishes it.
public struct SimulatedReception: Sendable {
    /// A ServiceEnvelope, or the remains of one.
    public var envelope: [UInt8]
    /// Seconds since 1970 when the gateway heard it.
    public var time: UInt32
    public var topic: String
    /// The contents.
    public var fact: SimulatedFact
}

/// The contents of a reception, known because they were generated, not from a decoder.
public struct SimulatedFact: Sendable, Equatable {
    /// The row that a view makes of the packet.
    public enum Row: Sendable, Equatable {
        case none
        case position
        /// The field number of the metrics in `Telemetry`, and whether all of them are finite numbers.
        case telemetry(kind: UInt32, isFinite: Bool)
        case message
        /// A payload that breaks the wire format, or a place that is not on the globe: only an entry in a quarantine.
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
    /// Whether it can be read with every key except the foreign channel's.
    public var isReadable = true
    /// Whether the bytes no longer contain a packet.
    public var isDamaged = false
}
