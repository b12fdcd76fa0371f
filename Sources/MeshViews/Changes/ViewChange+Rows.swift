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
    case gateway(GatewayRow)
    case gatewayNode(GatewayNodeRow)
    case mapReport(MapReportRow)
    case sensor(SensorRow)
    case nodeChange(NodeChangeRow)
    case hardware(HardwareRow)
    case radio(RadioRow)
    case unknownTelemetry(UnknownTelemetryRow)
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
            default: return otherRow(key, value.rawSpan)
            }
        } catch {
            return nil
        }
    }

    private func otherRow(_ key: RawSpan, _ value: RawSpan) -> ViewRow? {
        switch table {
        case GatewayRow.table: GatewayRow(key: key, value: value).map { .gateway($0) }
        case GatewayNodeRow.table: GatewayNodeRow(key: key, value: value).map { .gatewayNode($0) }
        case MapReportRow.table: MapReportRow(key: key, value: value).map { .mapReport($0) }
        case SensorRow.table: SensorRow(key: key, value: value).map { .sensor($0) }
        case NodeChangeRow.table: NodeChangeRow(key: key, value: value).map { .nodeChange($0) }
        case HardwareRow.table: HardwareRow(key: key, value: value).map { .hardware($0) }
        case RadioRow.table: RadioRow(key: key, value: value).map { .radio($0) }
        case UnknownTelemetryRow.table: UnknownTelemetryRow(key: key, value: value).map { .unknownTelemetry($0) }
        default: nil
        }
    }
}
