extension ViewRow {
    /// What a row is of.
    public enum Kind: String, Sendable, CaseIterable, Codable {
        case node, position, telemetry, message, waypoint, traceRoute, link, gateway, gatewayNode, mapReport, sensor, nodeChange,
            hardware
        case radio, unknownTelemetry
    }

    public var kind: Kind {
        switch self {
        case .node: .node
        case .position: .position
        case .telemetry: .telemetry
        case .message: .message
        case .waypoint: .waypoint
        case .traceRoute: .traceRoute
        case .link: .link
        case .gateway: .gateway
        case .gatewayNode: .gatewayNode
        case .mapReport: .mapReport
        case .sensor: .sensor
        case .nodeChange: .nodeChange
        case .hardware: .hardware
        case .radio: .radio
        case .unknownTelemetry: .unknownTelemetry
        }
    }

    /// When it was, or was changed last; seconds since 1970.
    public var time: UInt32 { place.time }

    /// The event that it was made by, or changed last.
    public var sequence: UInt64 { place.sequence }

    private var place: (time: UInt32, sequence: UInt64) {
        switch self {
        case .node(let row): (row.lastHeard, row.lastSequence)
        case .position(let row): (row.time, row.sequence)
        case .telemetry(let row): (row.time, row.sequence)
        case .message(let row): (row.time, row.sequence)
        case .waypoint(let row): (row.time, row.sequence)
        case .traceRoute(let row): (row.time, row.sequence)
        case .link(let row): (row.time, row.sequence)
        case .gateway(let row): (row.time, row.sequence)
        case .gatewayNode(let row): (row.time, row.sequence)
        case .mapReport(let row): (row.time, row.sequence)
        case .sensor(let row): (row.time, row.sequence)
        case .nodeChange(let row): (row.time, row.sequence)
        case .hardware(let row): (row.time, row.sequence)
        case .radio(let row): (row.time, row.sequence)
        case .unknownTelemetry(let row): (row.time, row.sequence)
        }
    }
}
