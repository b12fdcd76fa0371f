import EventLog
import Meshtastic

/// `mqtt-json`: a JSON message of an MQTT `/2/json/` topic a line. Either `{"topic": …, "payload": …}`, the payload as a string or as
/// JSON itself, with `rx_time` where the receiver noted it; or the bare message, which has no topic.
///
/// The event's payload is the message as published. Its topic becomes part of the source's name, as with live MQTT: it is the only
/// place that names the channel.
struct MessageLine: LineDecoder {
    func decode(_ line: Span<UInt8>) throws(RecordFault) -> IngestRecord {
        var members = try JSONMembers(line)
        var payload: [UInt8]?
        var topic: String?
        var isBare = false
        var reception = Reception.unrecorded
        while let member = try members.next(line) {
            if member.isNamed("payload", in: line) {
                payload = try member.stringBytes(in: line) ?? member.written(in: line)
            } else if member.isNamed("topic", in: line) {
                topic = try member.string(in: line)
            } else if member.isNamed("rx_time", in: line) {
                reception = try ReceptionTime.read(member, line)
            } else if member.isNamed("from", in: line) || member.isNamed("sender", in: line) {
                isBare = true
            }
        }
        if isBare, topic == nil { return IngestRecord(line.bytes(0..<line.count), .mqttJSON) }
        guard let payload else { throw RecordFault("no payload") }
        return IngestRecord(payload, .mqttJSON, reception: reception, origin: topic.map { .within($0) } ?? .file)
    }

    func isWhole(_ record: IngestRecord) -> Bool { true }
}
