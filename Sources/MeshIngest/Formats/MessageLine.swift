import EventLog
import Meshtastic

/// `mqtt-json`: a JSON message of an MQTT `/2/json/` topic per line. Either `{"topic": …, "payload": …}`, the payload as a string or as
/// JSON itself, with `rx_time` where the receiver recorded it; or the bare message, which has no topic. If the topic is one of
/// ServiceEnvelopes, the payload is the base64 of one.
///
/// The event's payload is the message as published. Its topic becomes part of the source's name, as with live MQTT: it is the only
/// place that names the channel.
struct MessageLine: LineDecoder {
    func decode(_ line: Span<UInt8>) throws(RecordFault) -> IngestRecord {
        var members = try JSONMembers(line)
        var payload: [UInt8]?
        var topic: String?
        var (hasFrom, hasSender) = (false, false)
        var reception = Reception.unrecorded
        while let member = try members.next(line) {
            if member.isNamed("payload", in: line) {
                payload = try member.stringBytes(in: line) ?? member.written(in: line)
            } else if member.isNamed("topic", in: line) {
                topic = try member.string(in: line)
            } else if member.isNamed("rx_time", in: line) {
                reception = try ReceptionTime.read(member, line)
            } else if member.isNamed("from", in: line) {
                hasFrom = true
            } else if member.isNamed("sender", in: line) {
                hasSender = true
            }
        }
        if topic == nil, hasFrom, hasSender || payload != nil { return IngestRecord(line.bytes(0..<line.count), .mqttJSON) }
        guard let payload else { throw RecordFault("no payload") }
        let origin = topic.map { IngestRecord.Origin.within($0) } ?? .file
        switch topic.flatMap(Topic.init(parsing:))?.kind {
        case .envelope, .oldEnvelope, .mapReport:
            return IngestRecord(try Base64.decode(payload.span), .serviceEnvelope, reception: reception, origin: origin)
        default: return IngestRecord(payload, .mqttJSON, reception: reception, origin: origin)
        }
    }

    func isWhole(_ record: IngestRecord) -> Bool { true }
}
