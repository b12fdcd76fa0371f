import ArgumentParser
import Meshtastic
import ProtobufWire

/// The forms that posted bytes may have, the most reliably recognised first.
enum PacketForm: String, NamedChoice {
    case envelope, packet
    case fromRadio = "from-radio"
    case toRadio = "to-radio"
    case data, json

    /// The message's name in Meshtastic's documentation.
    var name: String {
        switch self {
        case .envelope: "ServiceEnvelope"
        case .packet: "MeshPacket"
        case .fromRadio: "FromRadio"
        case .toRadio: "ToRadio"
        case .data: "Data"
        case .json: "JSON of the MQTT bridge"
        }
    }

    /// The message in the schema; nil for a text.
    private var message: String? { self == .json ? nil : name }

    /// Nil if the bytes are the message; otherwise why they are not.
    func objection(to bytes: [UInt8]) -> String? {
        guard let message else { return "no JSON object" }
        guard !bytes.isEmpty else { return "no bytes" }
        let shown = Dissector.dissect(bytes.rawSpan, message: message)
        if let failure = shown.failure { return failure.description }
        if let lack = lack(of: shown) { return lack }
        let doubt = Doubt(shown)
        if let failure = doubt.failure { return "inside of it, \(failure)" }
        let most = self == .envelope || self == .packet ? doubt.known : 0
        return doubt.unknown > most
            ? "it has \(doubt.unknown == 1 ? "a field" : "\(doubt.unknown) fields") of no such message" : nil
    }

    /// What distinguishes a message of this form.
    private func lack(of shown: DissectedMessage) -> String? {
        switch self {
        case .envelope:
            guard case .message(let packet)? = shown.field(named: "packet")?.value else { return "no packet in it" }
            guard shown.field(named: "channel_id") != nil || shown.field(named: "gateway_id") != nil else {
                return "neither a channel nor a gateway in it"
            }
            return Self.lackOfPacket(packet)
        case .packet: return Self.lackOfPacket(shown)
        case .fromRadio, .toRadio:
            guard shown.fields.contains(where: { $0.description != nil && $0.name != "id" }) else { return "nothing known in it" }
            if case .message(let packet)? = shown.field(named: "packet")?.value { return Self.lackOfPacket(packet) }
            return nil
        case .data:
            guard case .enumeration(_, name: _?)? = shown.field(named: "portnum")?.value else { return "no known port in it" }
            guard let content = shown.field(named: "payload")?.content else { return "no payload of its port in it" }
            if case .message(let payload) = content.value {
                let doubt = Doubt(payload)
                if payload.fields.isEmpty || payload.failure != nil || doubt.unknown > 0 {
                    return "the payload is not of its port"
                }
            }
            return nil
        case .json: return nil
        }
    }

    private static func lackOfPacket(_ packet: DissectedMessage) -> String? {
        guard packet.field(named: "decoded") != nil || packet.field(named: "encrypted") != nil else {
            return "no packet with a content in it"
        }
        let hasHeader = ["from", "to", "id"].contains { packet.field(named: $0) != nil }
        return hasHeader ? nil : "no packet with a sender, addressee or id in it"
    }
}

/// The evidence for and against a message's type. The content of a payload is no evidence, since a sender may have written it wrongly.
private struct Doubt {
    var known = 0
    var unknown = 0
    var failure: String?

    init(_ message: DissectedMessage) { count(message) }

    private mutating func count(_ message: DissectedMessage) {
        if let failure = message.failure { self.failure = failure.description }
        for field in message.fields {
            if field.description == nil { unknown += 1 } else { known += 1 }
            if case .message(let inner) = field.value { count(inner) }
        }
    }
}
