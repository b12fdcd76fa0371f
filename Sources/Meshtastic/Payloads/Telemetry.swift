public import ProtobufWire

/// The kind of metrics in a telemetry packet: the field number of its variant.
public enum TelemetryKind: UInt8, Sendable, CaseIterable, Codable {
    case device = 2
    case environment = 3
    case airQuality = 4
    case power = 5
    case localStats = 6
    case health = 7
    case host = 8
    case trafficManagement = 9
    case soilWater = 11
}

/// Measurements of a node: the payload of port 67. The metrics stay in place.
public struct Telemetry: Sendable, Hashable {
    /// When it was measured by the sender's clock, seconds since 1970; 0 if unknown.
    public var time: UInt32 = 0
    /// The field number of the variant, even if this version does not know it; 0 if missing.
    public var rawKind: UInt8 = 0
    /// The variant's body, in the bytes that were decoded.
    public var metrics: ByteRange = .empty

    public var kind: TelemetryKind? { TelemetryKind(rawValue: rawKind) }

    /// - Throws: `WireError` if the bytes are not a message.
    @inline(__always)
    public init(decoding bytes: RawSpan) throws(WireError) {
        var reader = WireReader(bytes)
        while let field = try reader.next() {
            if field.tag == WireField.tag(1, .fixed32) {
                time = field.asUInt32
            } else if field.tag & 7 == 2, field.number >= 2, field.number <= 31 {
                rawKind = UInt8(truncatingIfNeeded: field.number)
                metrics = field.range
            }
        }
    }

    /// Writes the payload.
    ///
    /// - Parameter metrics: writes the fields of the variant.
    public static func encode(
        time: UInt32, kind: TelemetryKind, to writer: inout WireWriter, _ metrics: (inout WireWriter) -> Void
    ) {
        writer.fixed32Unless0(1, time)
        writer.message(UInt32(kind.rawValue), metrics)
    }
}
