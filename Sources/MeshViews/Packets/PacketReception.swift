public import EventLog
public import Meshtastic

/// One hearing of a packet.
public struct PacketReception: Sendable, Hashable {
    public var sequence: UInt64
    public var source: SourceID
    public var arrival: Timestamp
    /// When it was received, by the receiver's clock: seconds since 1970; 0 where it did not say.
    public var rxTime: UInt32
    /// The gateway that published it; 0 for none.
    public var gateway: UInt32
    /// Signal-to-noise ratio, decibels; 0 where it is not known.
    public var snr: Float
    /// Signal strength, dBm.
    public var rssi: Int32?
    /// Nil where the packet does not say.
    public var hopsAway: UInt8?
    /// The last byte of the number of the node that passed it on; 0 where it is not known.
    public var relayNode: UInt8
    public var isViaMQTT: Bool
}

/// A packet with everybody who heard it.
public struct PacketRow: Sendable, Hashable {
    public var from: UInt32
    public var to: UInt32
    public var id: UInt32
    /// 0 where no key opens it.
    public var port: UInt32
    public var channel: String
    /// How the first readable reception came to be readable, else why the first one is not.
    public var opening: Opening
    /// Whether some of it was altered on the way, as far as its form shows.
    public var isDamaged: Bool
    /// In the order in which they arrived, each once however often it is in the log. The first ones are missing where retention has dropped them.
    public var receptions: [PacketReception]
    /// Another packet of the same hour has the same sender and id, and other content: one of them is forged, or the id was used twice.
    public var hasConflict = false

    public var firstSequence: UInt64 { receptions.first?.sequence ?? 0 }
}
