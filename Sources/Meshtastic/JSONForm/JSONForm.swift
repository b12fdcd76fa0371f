internal import ProtobufWire

/// The JSON that gateways of firmware up to 2.7 publish under `/2/json/`, converted to the same packets as protobuf.
///
/// The payload is converted to the protobuf of its port, so that views need not handle the difference. What the JSON does not contain is absent: the
/// telemetry's own time, public keys, the hops of a trace route (it has only names).
///
/// A line of a recording, `{"topic": …, "payload": …}`, is accepted as well; its topic names the channel, which the JSON itself does not.
public enum JSONForm {
    /// Decodes one message and appends exactly one packet, with its bytes, to the batch. Never throws and never traps: a message that cannot
    /// be read becomes a packet with the reason.
    public static func decode(_ bytes: RawSpan, into batch: inout PacketBatch) {
        var packet = DecodedPacket()
        do throws(JSONError) {
            decode(try JSONValue(parsing: bytes), &packet, &batch)
        } catch {
            packet.opening = .invalid
            packet.failure = DecodeFailure(.malformedJSON, offset: error.offset)
        }
        if packet.id == 0, packet.hasPacket {
            let payload = batch.payload(of: packet).asArray
            batch.identify(packet, .json, packet.port, payload.rawSpan)
        }
        batch.packets.append(packet)
    }

    private static func decode(_ value: JSONValue, _ packet: inout DecodedPacket, _ batch: inout PacketBatch) {
        var message = value
        if value["from"] == nil, let text = value["topic"]?.asString, let inner = payloadOfLine(value) {
            message = inner
            if let topic = Topic(parsing: text) {
                if let channel = topic.channel { packet.channelID = batch.append(bytes: Array(channel.utf8).rawSpan) }
                packet.gateway = topic.gateway ?? 0
            }
        }
        guard let from = message["from"]?.asNode else {
            packet = DecodedPacket()
            packet.opening = .invalid
            packet.failure = DecodeFailure(.malformedJSON, .invalidValue)
            return
        }
        packet.from = from
        readHeader(message, &packet)
        let type = message["type"]?.asString ?? ""
        // A text that reads `null` is JSON itself, and firmware writes it as such in place of the payload.
        guard let payload = message["payload"], payload != .null || type == Kind.text.rawValue,
            let kind = kind(of: payload, type: type)
        else {
            packet.opening = .empty
            return
        }
        packet.opening = .decoded
        packet.port = kind.port
        // Firmware writes only replies, without the id of the request: the reply's own id is used instead.
        if kind == .traceroute { packet.requestID = packet.id }
        if let content = content(of: payload, kind) {
            packet.payload = batch.append(bytes: content.rawSpan)
        } else {
            packet.failure = DecodeFailure(.malformedPayload, .invalidValue, port: kind.port)
        }
    }

    /// The message in a line of a recording; it may be text or an object.
    private static func payloadOfLine(_ line: JSONValue) -> JSONValue? {
        guard let payload = line["payload"] else { return nil }
        guard let text = payload.asString else { return payload.isObject ? payload : nil }
        return try? JSONValue(parsing: Array(text.utf8).rawSpan)  // no JSON: the line is no message then
    }

    private static func readHeader(_ message: JSONValue, _ packet: inout DecodedPacket) {
        packet.flags = [.hasPacket, .cameDecoded]
        packet.to = message["to"]?.asNode ?? NodeID.broadcast
        packet.id = message["id"]?.asUInt32 ?? 0
        packet.channel = message["channel"]?.asUInt32 ?? 0
        packet.rxTime = message["timestamp"]?.asUInt32 ?? 0
        if let gateway = message["sender"]?.asString.flatMap({ NodeID.parse($0) }) { packet.gateway = gateway }
        if let rssi = message["rssi"]?.asInteger.flatMap({ Int32(exactly: $0) }) {
            packet.rxRSSI = rssi
            packet.flags.insert(.hasRSSI)
        }
        if let snr = message["snr"]?.asDouble.map({ Float($0) }), snr.isFinite, snr != 0 {
            packet.rxSNR = snr
            packet.flags.insert(.hasSNR)
        }
        readHops(message, &packet)
    }

    /// The JSON states how many hops it took, a packet how many it had at the start and has left.
    private static func readHops(_ message: JSONValue, _ packet: inout DecodedPacket) {
        let start = message["hop_start"]?.asInteger.flatMap { UInt8(exactly: $0) }
        let away = message["hops_away"]?.asInteger.flatMap { UInt8(exactly: $0) }
        packet.hopStart = start ?? away ?? 0
        if let away, away <= packet.hopStart { packet.hopLimit = packet.hopStart - away }
        if packet.hopStart > 0 {
            packet.flags.insert(.hasHopStart)
        } else if away == 0 {
            // Zero hops are known to be zero only where the sender wrote the bitfield.
            packet.flags.insert(.hasBitfield)
        }
    }
}
