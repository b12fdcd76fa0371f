internal import ProtobufWire

extension JSONForm {
    /// The types that firmware writes.
    enum Kind: String, CaseIterable {
        case text, telemetry, nodeinfo, position, waypoint, neighborinfo, traceroute, detection, paxcounter
        case gpiosChanged = "gpios_changed"
        case gpiosReadReply = "gpios_read_reply"

        var port: UInt32 {
            switch self {
            case .text: Port.text
            case .telemetry: Port.telemetry
            case .nodeinfo: Port.nodeInfo
            case .position: Port.position
            case .waypoint: Port.waypoint
            case .neighborinfo: Port.neighborInfo
            case .traceroute: Port.traceroute
            case .detection: Port.detectionSensor
            case .paxcounter: Port.paxcounter
            case .gpiosChanged, .gpiosReadReply: Port.remoteHardware
            }
        }
    }

    /// The kind of the payload: by its type, or if that is missing, by its members. Nil for other types, such as commands to a gateway.
    static func kind(of payload: JSONValue, type: String) -> Kind? {
        guard type.utf8.dropFirst(JSONValue.longestName).isEmpty else { return nil }
        return type.isEmpty ? inferredKind(payload) : Kind(rawValue: type)
    }

    /// The payload as protobuf of its port; nil if it lacks everything that its kind needs.
    static func content(of payload: JSONValue, _ kind: Kind) -> [UInt8]? {
        switch kind {
        case .text, .detection: return Array(text(of: payload).utf8)
        case .telemetry: return telemetry(payload)
        case .traceroute: return payload.isObject ? route(payload) : nil
        case .nodeinfo:
            return fields(payload, "User", ["longname": "long_name", "shortname": "short_name", "hardware": "hw_model"])
        case .position: return fields(payload, "Position")
        case .waypoint: return fields(payload, "Waypoint")
        case .neighborinfo: return fields(payload, "NeighborInfo")
        case .paxcounter: return fields(payload, "Paxcount", ["wifi_count": "wifi", "ble_count": "ble"])
        case .gpiosChanged, .gpiosReadReply:
            var writer = WireWriter()
            writer.varint(1, kind == .gpiosChanged ? 3 : 5)
            return fields(payload, "HardwareMessage").map { writer.bytes + $0 }
        }
    }

    private static func inferredKind(_ payload: JSONValue) -> Kind? {
        guard let members = payload.nameableMembers else { return payload.asString == nil ? nil : .text }
        let names = Set(members.map(\.name))
        func has(_ any: String...) -> Bool { any.contains { names.contains($0) } }
        if has("text") { return .text }
        if has("longname", "shortname", "hardware") { return .nodeinfo }
        if has("latitude_i", "longitude_i") { return has("name", "description", "expire", "locked_to") ? .waypoint : .position }
        if has("neighbors", "neighbors_count") { return .neighborinfo }
        if has("route", "route_back") { return .traceroute }
        if has("wifi_count", "ble_count") { return .paxcounter }
        if has("gpio_value") { return has("gpio_mask") ? .gpiosReadReply : .gpiosChanged }
        return telemetryKind(payload) == nil ? nil : .telemetry
    }

    /// The message's text. If the text was JSON itself, firmware writes that value in place of the payload.
    private static func text(of payload: JSONValue) -> String {
        if let text = payload["text"] { return text.asString ?? text.description }
        return payload.asString ?? payload.description
    }

    /// A trace route names its hops, including both ends, while a packet has numbers: as many unknown hops, and the signal strengths.
    private static func route(_ payload: JSONValue) -> [UInt8] {
        var writer = WireWriter()
        for (number, names, strengths) in [(UInt32(1), "route", "snr_towards"), (3, "route_back", "snr_back")] {
            let hops = (payload[names]?.asArray ?? []).dropFirst().dropLast().prefix(listLimit)
            if !hops.isEmpty { writer.packedFixed32(number, hops.map { $0.asNode ?? unknownHop }) }
            let levels = (payload[strengths]?.asArray ?? []).prefix(listLimit).map(quarterDecibels)
            if !levels.isEmpty { writer.packedInt32(number + 1, levels) }
        }
        return writer.bytes
    }

    private static let unknownHop: UInt32 = 0xffff_ffff
    /// No packet has room for more hops or neighbours.
    private static let listLimit = 64

    /// dB converted to the quarter decibels of the wire; -128 means unknown.
    private static func quarterDecibels(_ value: JSONValue) -> Int32 {
        guard let decibels = value.asDouble, abs(decibels) < 1000 else { return -128 }
        return Int32((decibels * 4).rounded())
    }
}

extension JSONForm {
    /// Firmware's names where they differ from the schema, by telemetry kind (the number of the field in Telemetry).
    static func telemetryNames(_ kind: UInt32) -> [String: String] {
        switch kind {
        case 4: ["pm10": "pm10_standard", "pm25": "pm25_standard", "pm100": "pm100_standard"]
        case 5:
            Dictionary(
                uniqueKeysWithValues: (1...8).flatMap {
                    [("voltage_ch\($0)", "ch\($0)_voltage"), ("current_ch\($0)", "ch\($0)_current")]
                })
        default: [:]
        }
    }

    /// The kind of metrics that has most of the names; among equals, the one that firmware sends most.
    private static func telemetryKind(_ payload: JSONValue) -> UInt32? {
        guard let members = payload.nameableMembers, let telemetry = FieldTable.standard.message(named: "Telemetry") else {
            return nil
        }
        var best: (kind: UInt32, count: Int)?
        for field in telemetry.fields {
            guard case .message(let index) = field.kind else { continue }
            let names = telemetryNames(field.number)
            let metrics = FieldTable.standard.messages[index]
            let count = members.count { metrics.field(named: names[$0.name] ?? $0.name) != nil }
            if count > best?.count ?? 0 { best = (field.number, count) }
        }
        return best?.kind
    }

    private static func telemetry(_ payload: JSONValue) -> [UInt8]? {
        guard let kind = telemetryKind(payload),
            let name = FieldTable.standard.message(named: "Telemetry")?.field(kind)?.typeName,
            let metrics = fields(payload, name, telemetryNames(kind))
        else { return nil }
        var writer = WireWriter()
        writer.bytes(kind, metrics)
        return writer.bytes
    }
}

extension JSONForm {
    /// An object's members as fields of a message, in order of their numbers. Members that the message does not have, and values that do not
    /// fit their field, are left out. Nil for anything but an object.
    private static func fields(_ object: JSONValue, _ message: String, _ names: [String: String] = [:]) -> [UInt8]? {
        guard let members = object.nameableMembers, let description = FieldTable.standard.message(named: message) else {
            return nil
        }
        var writer = WireWriter()
        for field in description.fields {
            let value = members.last { (names[$0.name] ?? $0.name) == field.name }?.value
            if let value { write(value, field, to: &writer) }
        }
        return writer.bytes
    }

    private static func write(_ value: JSONValue, _ field: FieldDescription, to writer: inout WireWriter) {
        if field.isRepeated, let values = value.asArray {
            for value in values.prefix(listLimit) { writeOne(value, field, to: &writer) }
        } else {
            writeOne(value, field, to: &writer)
        }
    }

    private static func writeOne(_ value: JSONValue, _ field: FieldDescription, to writer: inout WireWriter) {
        let number = field.number
        if field.presence == .implicit, field.kind != .string, value.asDouble == 0 { return }
        switch field.kind {
        case .string: if let text = value.asString { writer.string(number, String(text.unicodeScalars.prefix { $0 != "\0" })) }
        case .float: if let float = value.asDouble.map({ Float($0) }), float.isFinite { writer.float(number, float) }
        case .double: if let double = value.asDouble, double.isFinite { writer.double(number, double) }
        case .bool: if let integer = value.asInteger { writer.bool(number, integer != 0) }
        case .fixed32: if let bits = unsigned(value, field) { writer.fixed32(number, bits) }
        case .sfixed32: if let short = int32(value) { writer.sfixed32(number, short) }
        case .uint32: if let bits = unsigned(value, field) { writer.uint32(number, bits) }
        case .int32: if let short = int32(value) { writer.int32(number, short) }
        case .sint32: if let short = int32(value) { writer.sint32(number, short) }
        case .enumeration(let index):
            let name = value.asString.flatMap { $0.utf8.dropFirst(JSONValue.longestName).isEmpty ? $0 : nil }
            let named = name.flatMap { FieldTable.standard.enums[index].number(named: $0) }
            if let short = named ?? int32(value) { writer.int32(number, short) }
        case .uint64: if let integer = value.asInteger, integer >= 0 { writer.varint(number, UInt64(integer)) }
        case .int64: if let integer = value.asInteger { writer.int64(number, integer) }
        case .sint64: if let integer = value.asInteger { writer.sint64(number, integer) }
        case .fixed64, .sfixed64: if let integer = value.asInteger { writer.fixed64(number, UInt64(bitPattern: integer)) }
        case .message(let index):
            if let inner = fields(value, FieldTable.standard.messages[index].name) { writer.bytes(number, inner) }
        case .bytes: break
        }
    }

    /// Node numbers and ids may be signed, or written as node ids; other numbers are taken as they are.
    private static func unsigned(_ value: JSONValue, _ field: FieldDescription) -> UInt32? {
        field.isNodeOrID ? value.asNode : value.asInteger.flatMap { UInt32(exactly: $0) }
    }

    /// An integer, or a float truncated to an integer.
    private static func int32(_ value: JSONValue) -> Int32? {
        if let integer = value.asInteger { return Int32(exactly: integer) }
        guard let double = value.asDouble, abs(double) < 2_147_483_647 else { return nil }
        return Int32(double.rounded(.towardZero))
    }
}
