public import EventLog
package import MeshViews
public import Meshtastic

/// One reception of a packet.
public struct PacketReception: Sendable, Hashable {
    public var sequence: UInt64
    public var source: SourceID
    public var arrival: Timestamp
    /// When it was received, by the receiver's clock: seconds since 1970; 0 if the packet does not state it.
    public var rxTime: UInt32
    /// When it was heard: a live one at its arrival; else as its recording states, else by the receiver's clock if that is plausible, else its
    /// arrival.
    public var heard: Timestamp
    /// Which of these it is.
    package var heardSource: HeardSource
    /// The gateway that published it; 0 if unknown.
    public var gateway: UInt32
    /// Signal-to-noise ratio, decibels; 0 if unknown.
    public var snr: Float
    /// Signal strength, dBm.
    public var rssi: Int32?
    /// Nil if the packet does not state it.
    public var hopsAway: UInt8?
    /// The last byte of the number of the node that relayed it; 0 if unknown.
    public var relayNode: UInt8
    public var isViaMQTT: Bool
    /// A node replayed stored state to its client: it was not heard then.
    package var isReplayedState = false
}

/// A packet with all its receptions.
public struct PacketRow: Sendable, Hashable {
    public var from: UInt32
    public var to: UInt32
    public var id: UInt32
    /// 0 if no key opens it.
    public var port: UInt32
    public var channel: String
    /// How the first readable reception was opened, or why the first reception is not readable.
    public var opening: Opening
    /// Whether parts of it were altered on the way, as far as its format shows.
    public var isDamaged: Bool
    /// In order of arrival, each once even if it is in the log more often. The first ones are missing if retention has dropped them.
    /// Those of replayed state are not receptions, but tell where it is in the log.
    public var receptions: [PacketReception]
    /// Whether another packet of the same hour has the same sender and id but other content: one of them is forged, or the id was used twice.
    public var hasConflict = false

    /// When the first of its receivers heard it.
    public var heard: Timestamp? { receptions.lazy.map(\.heard).min() }

    public var firstSequence: UInt64 { receptions.first?.sequence ?? 0 }

    /// How far from its first reception another one may be.
    package static let windowSeconds = Int64(packetWindowSeconds)

    /// No two of its receptions are further apart, if it is known when they were heard: some are heard before the first one that came in.
    package static let longestSeconds = 2 * windowSeconds

    /// Whether a node replayed it to its client from what it had stored: then nobody heard it.
    public var isReplayedState: Bool { receptions.first?.isReplayedState ?? false }

    /// The receptions that count.
    package var heardReceptions: [PacketReception] { isReplayedState ? [] : receptions }
}
