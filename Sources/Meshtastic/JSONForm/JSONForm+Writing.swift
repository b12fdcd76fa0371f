internal import ProtobufWire

extension JSONForm {
    /// The message that a gateway of firmware 2.7 would publish for a packet; nil for ports that it leaves out, and for packets that cannot be read.
    ///
    /// Hops of a trace route, which firmware names, are written as `!` and hex digits.
    public static func text(of packet: DecodedPacket, in batch: PacketBatch) -> String? {
        guard packet.hasPacket, packet.isReadable, let content = payload(of: packet, batch) else { return nil }
        var members: [JSONValue.Member] = [
            .init("channel", .integer(packet.channel)), .init("from", .integer(packet.from)), .init("id", .integer(packet.id)),
            .init("payload", content.value), .init("sender", .string(NodeID.text(packet.gateway))),
            .init("timestamp", .integer(packet.rxTime)), .init("to", .integer(packet.to)), .init("type", .string(content.type)),
        ]
        if let away = packet.hopsAway {
            members.append(.init("hop_start", .integer(packet.hopStart)))
            members.append(.init("hops_away", .integer(away)))
        }
        if packet.hasRSSI { members.append(.init("rssi", .integer(packet.rxRSSI))) }
        if packet.rxSNR != 0, packet.rxSNR.isFinite { members.append(.init("snr", .float(packet.rxSNR))) }
        return JSONValue.object(members.sorted { $0.name < $1.name }).description
    }

    private static func payload(of packet: DecodedPacket, _ batch: PacketBatch) -> (type: String, value: JSONValue)? {
        if packet.port == Port.text || packet.port == Port.detectionSensor {
            let text = JSONValue.object([.init("text", .string(batch.string(packet.payload)))])
            return (packet.port == Port.text ? "text" : "detection", text)
        }
        guard let kind = Kind.allCases.first(where: { $0.port == packet.port }), kind != .gpiosChanged, kind != .gpiosReadReply,
            let name = FieldTable.messageName(ofPort: packet.port)
        else { return nil }
        let message = Dissector.dissect(batch.payload(of: packet), message: name)
        switch kind {
        case .telemetry: return telemetry(message).map { ("telemetry", $0) }
        case .traceroute: return ("traceroute", route(message.json, packet))
        case .nodeinfo:
            let names = ["long_name": "longname", "short_name": "shortname", "hw_model": "hardware", "id": "id", "role": "role"]
            return ("nodeinfo", object(message, names))
        case .paxcounter: return ("paxcounter", object(message, ["wifi": "wifi_count", "ble": "ble_count", "uptime": "uptime"]))
        default: return (kind.rawValue, object(message, nil))
        }
    }

    /// The message's fields as members, enums by their numbers.
    ///
    /// - Parameter names: the members to write with firmware's names for them; nil for all under their own names.
    private static func object(_ message: DissectedMessage, _ names: [String: String]?) -> JSONValue {
        var members: [JSONValue.Member] = []
        for field in message.fields {
            guard let name = field.name, let written = names == nil ? name : names?[name] else { continue }
            let value: JSONValue
            switch field.value {
            case .enumeration(let number, _): value = .integer(number)
            case .message(let inner): value = object(inner, nil)
            case .float(let float) where !float.isFinite: value = .null
            default: value = field.value.json
            }
            if field.description?.isRepeated == true {
                let old = members.first { $0.name == written }?.value.asArray ?? []
                members.removeAll { $0.name == written }
                members.append(.init(written, .array(old + [value])))
            } else {
                members.removeAll { $0.name == written }
                members.append(.init(written, value))
            }
        }
        return .object(members)
    }

    private static func telemetry(_ message: DissectedMessage) -> JSONValue? {
        guard let field = message.fields.last(where: { (2...9).contains($0.number) }), case .message(let metrics) = field.value
        else {
            return nil
        }
        let known = telemetryNames(field.number)
        let names = Dictionary(known.map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
        guard case .object(let members) = object(metrics, nil) else { return nil }
        return .object(members.map { .init(names[$0.name] ?? $0.name, $0.value) })
    }

    private static func route(_ message: JSONValue, _ packet: DecodedPacket) -> JSONValue {
        func node(_ number: UInt32) -> JSONValue { .string(NodeID.text(number)) }
        func hops(_ name: String) -> [JSONValue] { (message[name]?.asArray ?? []).map { $0.asUInt32.map(node) ?? .null } }
        func decibels(_ name: String) -> JSONValue {
            .array((message[name]?.asArray ?? []).map { .double(($0.asDouble ?? 0) / 4) })
        }
        return .object([
            .init("route", .array([node(packet.to)] + hops("route") + [node(packet.from)])),
            .init("snr_towards", decibels("snr_towards")),
            .init("route_back", .array([node(packet.from)] + hops("route_back") + [node(packet.to)])),
            .init("snr_back", decibels("snr_back")),
        ])
    }
}
