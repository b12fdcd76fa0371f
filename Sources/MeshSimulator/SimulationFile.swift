import Meshtastic
import ProtobufWire

/// The formats in which simulated traffic can be written; names as in `meshledger import --format`.
public enum SimulationFormat: String, Sendable, CaseIterable {
    case envelopes
    case jsonLines = "jsonl"
    case stream
    case lengthPrefixed = "length-prefixed"
    case mqttJSON = "mqtt-json"
}

/// Receptions as the records of a file.
public struct SimulationFile: Sendable {
    public let format: SimulationFormat

    public init(_ format: SimulationFormat) { self.format = format }

    /// Appends the record of a reception. A format that cannot hold it (a damaged envelope as JSON, say) leaves it out.
    ///
    /// - Returns: whether there is a record now.
    public func append(_ reception: SimulatedReception, to bytes: inout [UInt8]) -> Bool {
        switch format {
        case .envelopes:
            bytes += Self.base64(reception.envelope) + [10]
        case .jsonLines:
            guard let packet = Self.packet(of: reception.envelope) else { return false }
            bytes += Array("{\"rx_time\":\(reception.time),\"raw_b64\":\"".utf8) + Self.base64(packet) + Array("\"}\n".utf8)
        case .stream:
            guard let packet = Self.packet(of: reception.envelope) else { return false }
            var frame = WireWriter()
            frame.bytes(2, packet)
            guard frame.bytes.count <= 512 else { return false }
            let count = frame.bytes.count
            bytes += [0x94, 0xc3, UInt8(count >> 8), UInt8(count & 0xff)] + frame.bytes
        case .lengthPrefixed:
            let count = UInt32(reception.envelope.count)
            bytes += (0..<4).map { UInt8(truncatingIfNeeded: count >> (8 * $0)) } + reception.envelope
        case .mqttJSON:
            guard let text = Self.json(reception) else { return false }
            let topic = reception.topic.replacing("/2/e/", with: "/2/json/")
            bytes += Array("{\"topic\":\"\(topic)\",\"payload\":\(text)}\n".utf8)
        }
        return true
    }

    /// The MeshPacket inside an envelope.
    private static func packet(of envelope: [UInt8]) -> [UInt8]? {
        var reader = WireReader(envelope.rawSpan)
        do {
            while let field = try reader.next() {
                if field.tag == WireField.tag(1, .lengthDelimited) { return reader.bytes(field).asArray }
            }
        } catch {
            return nil  // damaged on purpose
        }
        return nil
    }

    private static func json(_ reception: SimulatedReception) -> String? {
        var batch = PacketBatch()
        let keyring = Keyring.standard
        PacketOpener(keyring: keyring).decode(reception.envelope.rawSpan, form: .serviceEnvelope, into: &batch)
        guard let packet = batch.packets.first, packet.isReadable else { return nil }
        return JSONForm.text(of: packet, in: batch)
    }

    private static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    private static func base64(_ bytes: [UInt8]) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let left = bytes.count - start
            let first = UInt32(bytes[start]) << 16
            let second = left > 1 ? UInt32(bytes[start + 1]) << 8 : 0
            let group = first | second | (left > 2 ? UInt32(bytes[start + 2]) : 0)
            text.append(digits[Int(group >> 18)])
            text.append(digits[Int(group >> 12 & 63)])
            text.append(left > 1 ? digits[Int(group >> 6 & 63)] : UInt8(ascii: "="))
            text.append(left > 2 ? digits[Int(group & 63)] : UInt8(ascii: "="))
        }
        return text
    }
}
