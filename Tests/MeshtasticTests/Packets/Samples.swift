import MeshCrypto
import Meshtastic
import ProtobufWire

/// Builds packets for tests.
struct Sample {
    var from: UInt32 = 0x1234_5678
    var to: UInt32 = NodeID.broadcast
    var id: UInt32 = 77
    var port: UInt32 = Port.text
    var payload: [UInt8] = Array("hello".utf8)

    var data: [UInt8] {
        var writer = WireWriter()
        writer.uint32(1, port)
        writer.bytes(2, payload)
        return writer.bytes
    }

    /// A MeshPacket in clear.
    var clear: [UInt8] { packet { $0.bytes(4, data) } }

    /// A MeshPacket encrypted for a channel.
    func encrypted(_ channel: ChannelKey) throws -> [UInt8] {
        var sealed = data
        if !channel.key.isEmpty {
            let iv =
                (0..<4).map { UInt8(truncatingIfNeeded: id >> (8 * UInt32($0))) } + [0, 0, 0, 0]
                + (0..<4).map { UInt8(truncatingIfNeeded: from >> (8 * UInt32($0))) } + [0, 0, 0, 0]
            sealed = try AESCTR(key: channel.key).apply(iv: iv, sealed)
        }
        return packet(channel: UInt32(channel.hash)) { $0.bytes(5, sealed) }
    }

    func packet(channel: UInt32 = 0, _ content: (inout WireWriter) -> Void) -> [UInt8] {
        var writer = WireWriter()
        writer.fixed32(1, from)
        writer.fixed32(2, to)
        if channel != 0 { writer.uint32(3, channel) }
        content(&writer)
        writer.fixed32(6, id)
        writer.fixed32(7, 1_700_000_000)
        writer.float(8, 6.25)
        writer.uint32(9, 3)
        writer.int32(12, -90)
        writer.uint32(15, 5)
        return writer.bytes
    }

    static func envelope(_ packet: [UInt8], channel: String = "LongFast", gateway: String = "!1c5b4a01") -> [UInt8] {
        var writer = WireWriter()
        writer.bytes(1, packet)
        writer.string(2, channel)
        writer.string(3, gateway)
        return writer.bytes
    }
}

/// One event decoded alone.
func decoded(
    _ bytes: [UInt8], _ form: CaptureForm = .meshPacket, _ keyring: Keyring = .standard, publicKeys: [UInt32: [UInt8]] = [:]
) -> (packet: DecodedPacket, payload: [UInt8], batch: PacketBatch) {
    let opener = PacketOpener(keyring: keyring, publicKeys: publicKeys)
    var batch = PacketBatch()
    opener.decode(bytes.rawSpan, form: form, into: &batch)
    let packet = batch.packets[0]
    return (packet, batch.payload(of: packet).asArray, batch)
}
