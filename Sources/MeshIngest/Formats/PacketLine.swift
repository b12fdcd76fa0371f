import EventLog
import Meshtastic
import ProtobufWire

/// `jsonl`: `{"raw_b64": …}` per line; with `rx_time`, the time at which the packet was received (Unix seconds or ISO 8601); with `kind`
/// ServiceEnvelope, MeshPacket or FromRadio, else the first bytes decide; with `src`, the address it came from. Other members are ignored.
struct PacketLine: LineDecoder {
    func decode(_ line: Span<UInt8>) throws(RecordFault) -> IngestRecord {
        var members = try JSONMembers(line)
        var payload: [UInt8]?
        var stated: CaptureForm?
        var reception = Reception.unrecorded
        var origin = IngestRecord.Origin.file
        while let member = try members.next(line) {
            if member.isNamed("raw_b64", in: line) {
                payload = try Self.payload(member, line)
            } else if member.isNamed("rx_time", in: line) {
                reception = try ReceptionTime.read(member, line)
            } else if member.isNamed("kind", in: line) {
                stated = try Self.kind(member, line)
            } else if member.isNamed("src", in: line), let source = try member.string(in: line), !source.isEmpty {
                origin = .within(source)
            }
        }
        guard let payload else { throw RecordFault("no raw_b64") }
        let kind = stated ?? Self.kind(of: payload)
        if kind == .fromRadio { return StreamCutter.record(payload, reception: reception, origin: origin) }
        return IngestRecord(payload, kind, reception: reception, origin: origin)
    }

    func isWhole(_ record: IngestRecord) -> Bool { true }

    static func payload(_ member: JSONMembers.Member, _ line: Span<UInt8>) throws(RecordFault) -> [UInt8] {
        guard member.kind == .string else { throw RecordFault("the packet is not a base64 string") }
        if member.hasEscapes, let text = try member.stringBytes(in: line) { return try Base64.decode(text.span) }
        return try Base64.decode(line.extracting(member.value.lowerBound + 1..<member.value.upperBound - 1))
    }

    /// By the first field: a MeshPacket begins with 32-bit numbers, an envelope with its packet, a FromRadio with a number or its variant.
    private static func kind(of payload: [UInt8]) -> CaptureForm {
        switch payload.first.map(UInt32.init) {
        case WireField.tag(1, .lengthDelimited): .serviceEnvelope
        case WireField.tag(1, .varint), WireField.tag(2, .lengthDelimited): .fromRadio
        default: .meshPacket
        }
    }

    private static func kind(_ member: JSONMembers.Member, _ line: Span<UInt8>) throws(RecordFault) -> CaptureForm {
        switch try member.string(in: line) {
        case "ServiceEnvelope": return .serviceEnvelope
        case "MeshPacket": return .meshPacket
        case "FromRadio": return .fromRadio
        case let other: throw RecordFault("unknown kind \(other?.debugDescription ?? "that is no text")")
        }
    }
}
