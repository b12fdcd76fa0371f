import Foundation
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

    /// The beginning of the file: in a stream, the radio's reports to its client about itself and its channels.
    public func start(_ simulation: MeshSimulation) -> [UInt8] {
        guard format == .stream, let radio = simulation.nodes.first else { return [] }
        var frames: [WireWriter] = [WireWriter()]
        frames[0].message(3) { $0.varint(1, UInt64(radio.number)) }
        for (index, key) in MeshSimulation.known.enumerated() {
            var channel = ChannelFrame()
            channel.index = Int32(index)
            channel.name = key.name
            channel.psk = key.psk
            channel.role = index == 0 ? 1 : 2
            var frame = WireWriter()
            frame.message(10) { channel.encode(to: &$0) }
            frames.append(frame)
        }
        var end = WireWriter()
        end.varint(7, 1)
        return (frames + [end]).flatMap { Self.framed($0.bytes) }
    }

    /// How many records `start` has.
    public var startRecords: Int { format == .stream ? MeshSimulation.known.count + 2 : 0 }

    private static func framed(_ bytes: [UInt8]) -> [UInt8] {
        [0x94, 0xc3, UInt8(bytes.count >> 8), UInt8(bytes.count & 0xff)] + bytes
    }

    /// Appends the record of a reception. A format that cannot represent it (for example a damaged envelope as JSON) leaves it out.
    ///
    /// - Returns: whether a record was appended.
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
            bytes += Self.framed(frame.bytes)
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

    /// As in firmware: for four kinds of metrics, and for numbers that JSON can represent.
    private static func json(_ reception: SimulatedReception) -> String? {
        if case .telemetry(let kind, let isFinite) = reception.fact.row, !isFinite || !(2...5).contains(kind) { return nil }
        var batch = PacketBatch()
        PacketOpener(keyring: Keyring(channels: MeshSimulation.known)).decode(
            reception.envelope.rawSpan, form: .serviceEnvelope, into: &batch)
        guard let packet = batch.packets.first, packet.isReadable else { return nil }
        return JSONForm.text(of: packet, in: batch)
    }

    private static func base64(_ bytes: [UInt8]) -> [UInt8] { Array(Data(bytes).base64EncodedData()) }
}
