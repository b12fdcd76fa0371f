import Meshtastic
import ProtobufWire

/// Collects what is not absent and not a default without presence.
private struct Fields {
    var printed: [String: Printed] = [:]

    mutating func number(_ name: String, _ value: UInt32) { if value != 0 { printed[name] = .number(Int64(value)) } }
    mutating func number(_ name: String, _ value: Int32) { if value != 0 { printed[name] = .number(Int64(value)) } }
    mutating func optional(_ name: String, _ value: Int32?) { if let value { printed[name] = .number(Int64(value)) } }
    mutating func optional(_ name: String, _ value: UInt32?) { if let value { printed[name] = .number(Int64(value)) } }
    mutating func choice(_ name: String, _ type: String, _ value: UInt32) {
        if value != 0 { printed[name] = .enumeration(type, value) }
    }
    mutating func text(_ name: String, _ value: String) { if !value.isEmpty { printed[name] = .text(value) } }
    mutating func flag(_ name: String, _ value: Bool) { if value { printed[name] = .bool(true) } }
    mutating func bytes(_ name: String, _ value: [UInt8]) { if !value.isEmpty { printed[name] = .bytes(value) } }
    mutating func list<Value>(_ name: String, _ values: [Value], _ print: (Value) -> Printed) {
        if !values.isEmpty { printed[name] = .list(values.map(print)) }
    }
}

extension Printed {
    /// A payload as the oracle prints it; nil for a port that it prints as bytes.
    init?(port: UInt32, _ bytes: RawSpan, _ names: FactNames) throws {
        switch port {
        case _ where Port.isText(port): self = .text(bytes.asRepairedString)
        case Port.position: self = .position(try Position(decoding: bytes))
        case Port.nodeInfo: self = .user(try User(decoding: bytes))
        case Port.routing: self = .routing(try Routing(decoding: bytes))
        case Port.waypoint: self = .waypoint(try Waypoint(decoding: bytes))
        case Port.paxcounter: self = .pax(try Paxcount(decoding: bytes))
        case Port.storeForward: self = .forward(try StoreAndForward(decoding: bytes))
        case Port.telemetry: self = try .telemetry(bytes, names)
        case Port.traceroute: self = .route(try RouteDiscovery(decoding: bytes))
        case Port.neighborInfo: self = .neighbors(try NeighborInfo(decoding: bytes))
        case Port.mapReport: self = .report(try MapReport(decoding: bytes))
        default: return nil
        }
    }

    private static func position(_ value: Position) -> Printed {
        var fields = Fields()
        fields.optional("latitude_i", value.latitudeE7)
        fields.optional("longitude_i", value.longitudeE7)
        fields.optional("altitude", value.altitude)
        fields.number("time", value.time)
        fields.choice("location_source", "Position.LocSource", value.locationSource)
        fields.choice("altitude_source", "Position.AltSource", value.altitudeSource)
        fields.number("timestamp", value.timestamp)
        fields.number("timestamp_millis_adjust", value.timestampMillisAdjust)
        fields.optional("altitude_hae", value.altitudeHAE)
        fields.optional("altitude_geoidal_separation", value.altitudeGeoidalSeparation)
        for (name, number) in [
            ("PDOP", value.pdop), ("HDOP", value.hdop), ("VDOP", value.vdop), ("gps_accuracy", value.gpsAccuracy),
            ("fix_quality", value.fixQuality), ("fix_type", value.fixType), ("sats_in_view", value.satellites),
            ("sensor_id", value.sensorID), ("next_update", value.nextUpdate), ("seq_number", value.sequenceNumber),
            ("precision_bits", value.precisionBits),
        ] { fields.number(name, number) }
        fields.optional("ground_speed", value.groundSpeed)
        fields.optional("ground_track", value.groundTrack)
        return .object(fields.printed)
    }

    private static func user(_ value: User) -> Printed {
        var fields = Fields()
        fields.text("id", value.id)
        fields.text("long_name", value.longName)
        fields.text("short_name", value.shortName)
        fields.bytes("macaddr", value.macAddress)
        fields.choice("hw_model", "HardwareModel", value.hardwareModel)
        fields.flag("is_licensed", value.isLicensed)
        fields.choice("role", "Config.DeviceConfig.Role", value.role)
        fields.bytes("public_key", value.publicKey)
        if let flag = value.isUnmessagable { fields.printed["is_unmessagable"] = .bool(flag) }
        return .object(fields.printed)
    }

    private static func routing(_ value: Routing) -> Printed {
        switch value {
        case .routeRequest(let route): .object(["route_request": .route(route)])
        case .routeReply(let route): .object(["route_reply": .route(route)])
        case .error(let reason): .object(["error_reason": .enumeration("Routing.Error", reason)])
        case .unknown: .object([:])
        }
    }

    private static func route(_ value: RouteDiscovery) -> Printed {
        var fields = Fields()
        fields.list("route", value.route) { .number(Int64($0)) }
        fields.list("snr_towards", value.snrTowards) { .number(Int64($0)) }
        fields.list("route_back", value.routeBack) { .number(Int64($0)) }
        fields.list("snr_back", value.snrBack) { .number(Int64($0)) }
        return .object(fields.printed)
    }

    private static func neighbors(_ value: NeighborInfo) -> Printed {
        var fields = Fields()
        fields.number("node_id", value.node)
        fields.number("last_sent_by_id", value.lastSentBy)
        fields.number("node_broadcast_interval_secs", value.broadcastInterval)
        fields.list("neighbors", value.neighbors) { neighbor in
            var inner = Fields()
            inner.number("node_id", neighbor.node)
            if neighbor.snr.bitPattern != 0 { inner.printed["snr"] = .float(neighbor.snr) }
            inner.number("last_rx_time", neighbor.lastRxTime)
            inner.number("node_broadcast_interval_secs", neighbor.broadcastInterval)
            return .object(inner.printed)
        }
        return .object(fields.printed)
    }

    private static func waypoint(_ value: Waypoint) -> Printed {
        var fields = Fields()
        fields.number("id", value.id)
        fields.optional("latitude_i", value.latitudeE7)
        fields.optional("longitude_i", value.longitudeE7)
        fields.number("expire", value.expire)
        fields.number("locked_to", value.lockedTo)
        fields.text("name", value.name)
        fields.text("description", value.description)
        fields.number("icon", value.icon)
        return .object(fields.printed)
    }

    private static func pax(_ value: Paxcount) -> Printed {
        var fields = Fields()
        fields.number("wifi", value.wifi)
        fields.number("ble", value.bluetooth)
        fields.number("uptime", value.uptime)
        return .object(fields.printed)
    }

    private static func report(_ value: MapReport) -> Printed {
        var fields = Fields()
        fields.text("long_name", value.longName)
        fields.text("short_name", value.shortName)
        fields.choice("role", "Config.DeviceConfig.Role", value.role)
        fields.choice("hw_model", "HardwareModel", value.hardwareModel)
        fields.text("firmware_version", value.firmwareVersion)
        fields.choice("region", "Config.LoRaConfig.RegionCode", value.region)
        fields.choice("modem_preset", "Config.LoRaConfig.ModemPreset", value.modemPreset)
        fields.flag("has_default_channel", value.hasDefaultChannel)
        fields.number("latitude_i", value.latitudeE7)
        fields.number("longitude_i", value.longitudeE7)
        fields.number("altitude", value.altitude)
        fields.number("position_precision", value.positionPrecision)
        fields.number("num_online_local_nodes", value.onlineLocalNodes)
        fields.flag("has_opted_report_location", value.hasOptedReportLocation)
        return .object(fields.printed)
    }

    private static func forward(_ value: StoreAndForward) -> Printed {
        var fields = Fields()
        fields.choice("rr", "StoreAndForward.RequestResponse", value.kind)
        var inner = Fields()
        switch value.content {
        case .none: break
        case .statistics(let statistics):
            for (name, number) in [
                ("messages_total", statistics.messagesTotal), ("messages_saved", statistics.messagesSaved),
                ("messages_max", statistics.messagesMax), ("up_time", statistics.upTime), ("requests", statistics.requests),
                ("requests_history", statistics.requestsHistory), ("return_max", statistics.returnMax),
                ("return_window", statistics.returnWindow),
            ] { inner.number(name, number) }
            inner.flag("heartbeat", statistics.hasHeartbeat)
            fields.printed["stats"] = .object(inner.printed)
        case .history(let messages, let window, let lastRequest):
            inner.number("history_messages", messages)
            inner.number("window", window)
            inner.number("last_request", lastRequest)
            fields.printed["history"] = .object(inner.printed)
        case .heartbeat(let period, let secondary):
            inner.number("period", period)
            inner.number("secondary", secondary)
            fields.printed["heartbeat"] = .object(inner.printed)
        case .text(let text): fields.printed["text"] = .bytes(text)
        }
        return .object(fields.printed)
    }

    private static func telemetry(_ bytes: RawSpan, _ names: FactNames) throws -> Printed {
        let value = try Telemetry(decoding: bytes)
        var fields = Fields()
        fields.number("time", value.time)
        let messages: [(name: String, type: String)] = [
            ("device_metrics", "DeviceMetrics"), ("environment_metrics", "EnvironmentMetrics"),
            ("air_quality_metrics", "AirQualityMetrics"), ("power_metrics", "PowerMetrics"), ("local_stats", "LocalStats"),
            ("health_metrics", "HealthMetrics"), ("host_metrics", "HostMetrics"),
            ("traffic_management_stats", "TrafficManagementStats"),
        ]
        let index = Int(value.rawKind) - 2
        guard messages.indices.contains(index) else { return .object(fields.printed) }
        fields.printed[messages[index].name] = try .metrics(bytes.bytes(value.metrics), messages[index].type, names)
        return .object(fields.printed)
    }

    private static func metrics(_ bytes: RawSpan, _ message: String, _ names: FactNames) throws -> Printed {
        var printed: [String: Printed] = [:]
        var reader = WireReader(bytes)
        while let field = try reader.next() {
            guard let fact = names.field(field.number, of: message), !fact.isRepeated else { continue }
            switch (fact.type, field.type) {
            case ("float", .fixed32): printed[fact.name] = .float(field.asFloat)
            case ("uint32", .varint): printed[fact.name] = .number(Int64(field.asUInt32))
            case ("int32", .varint): printed[fact.name] = .number(Int64(field.asInt32))
            case ("uint64", .varint): printed[fact.name] = .number(field.asInt64)
            case ("string", .lengthDelimited): printed[fact.name] = .text(reader.string(field))
            default: continue
            }
            if fact.isImplicit, field.scalar == 0 { printed[fact.name] = nil }
        }
        return .object(printed)
    }
}
