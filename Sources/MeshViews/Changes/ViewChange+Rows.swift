import Meshtastic
public import Projections
import ProtobufWire

/// A row of one of the views that this library makes.
public enum ViewRow: Sendable {
    case node(NodeRow)
    case position(PositionRow)
    case telemetry(TelemetryRow)
    case message(MessageRow)
    case waypoint(WaypointRow)
    case traceRoute(TraceRouteRow)
    case link(LinkRow)
}

extension ViewChange {
    /// The row, decoded; nil where it is gone, or of another table than these.
    public var row: ViewRow? {
        guard let value else { return nil }
        let key = key.rawSpan
        do throws(WireError) {
            switch (table, key.byteCount) {
            case ("nodes", 4): return .node(try NodeRow(number: key.bigEndianUInt32(at: 0), decoding: value.rawSpan))
            case ("positions", 16):
                return .position(
                    try PositionRow(
                        node: key.bigEndianUInt32(at: 0), time: key.bigEndianUInt32(at: 4), sequence: key.bigEndianUInt64(at: 8),
                        decoding: value.rawSpan))
            case ("telemetry", 17):
                guard let kind = TelemetryKind(rawValue: key.byte(at: 4)) else { return nil }
                return .telemetry(
                    try TelemetryRow(
                        node: key.bigEndianUInt32(at: 0), kind: kind, time: key.bigEndianUInt32(at: 5),
                        sequence: key.bigEndianUInt64(at: 9), decoding: value.rawSpan))
            case ("messages", 21):
                let thread = MessageThread(kind: key.byte(at: 0), value: key.bigEndianUInt64(at: 1))
                return .message(
                    try MessageRow(
                        thread: thread, time: key.bigEndianUInt32(at: 9), sequence: key.bigEndianUInt64(at: 13),
                        decoding: value.rawSpan))
            case ("waypoints", _): return WaypointRow.decode(key: key, value: value.rawSpan).map { .waypoint($0) }
            case ("traceroutes", _): return TraceRouteRow.decode(key: key, value: value.rawSpan).map { .traceRoute($0) }
            case ("links", _): return LinkRow.decode(key: key, value: value.rawSpan).map { .link($0) }
            default: return nil
            }
        } catch {
            return nil
        }
    }
}
