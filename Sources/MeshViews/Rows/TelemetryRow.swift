public import Meshtastic
package import ProtobufWire

/// One set of metrics that a node measured. The metrics are stored as received: what a later version of this code knows
/// about them can be read from old rows, and an absent metric is never a zero.
///
/// Key in the `telemetry` table: node (4 bytes), kind (1), time (4), sequence (8), big-endian. Value: `Telemetry` of
/// `views.proto`.
public struct TelemetryRow: Sendable, Equatable, StoredTelemetry {
    public var node: UInt32
    public var kind: TelemetryKind
    /// Seconds since 1970, and the clock that it came from.
    public var time: UInt32
    public var timeSource = TimeSource.arrival
    public var sequence: UInt64
    public var packetID: UInt32 = 0
    /// The sender's stamp, unchecked; 0 if missing.
    public var sentTime: UInt32 = 0
    public var gateway: UInt32 = 0
    /// The metrics message of the kind, byte for byte.
    public var metrics: [UInt8] = []

    package init(
        node: UInt32, kind: TelemetryKind, time: UInt32, sequence: UInt64, decoding value: RawSpan
    ) throws(WireError) {
        self.node = node
        self.kind = kind
        self.time = time
        self.sequence = sequence
        try decode(value)
    }
}
