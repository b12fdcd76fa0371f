internal import ProtobufWire

extension PacketBatch {
    /// A packet as an unencrypted ServiceEnvelope, as a gateway would have sent it. Zeros are left out as in protobuf.
    public func envelope(of packet: DecodedPacket) -> [UInt8] {
        var writer = WireWriter(capacity: 64 + packet.payload.count)
        writer.message(1) { writePacket(packet, to: &$0) }
        if !packet.channelID.isEmpty { writer.bytes(2, bytes(packet.channelID)) }
        if packet.gateway != 0 { writer.string(3, NodeID.text(packet.gateway)) }
        return writer.bytes
    }

    private func writePacket(_ packet: DecodedPacket, to writer: inout WireWriter) {
        if packet.from != 0 { writer.fixed32(1, packet.from) }
        if packet.to != 0 { writer.fixed32(2, packet.to) }
        if packet.channel != 0 { writer.uint32(3, packet.channel) }
        if packet.opening.isReadable { writer.message(4) { writeData(packet, to: &$0) } }
        if packet.opening == .opaque || packet.opening == .badTag { writer.bytes(5, payload(of: packet)) }
        if packet.id != 0 { writer.fixed32(6, packet.id) }
        if packet.rxTime != 0 { writer.fixed32(7, packet.rxTime) }
        if packet.rxSNR != 0 { writer.float(8, packet.rxSNR) }
        if packet.hopLimit != 0 { writer.uint32(9, UInt32(packet.hopLimit)) }
        if packet.flags.contains(.wantAck) { writer.bool(10, true) }
        if packet.priority != 0 { writer.uint32(11, UInt32(packet.priority)) }
        if packet.hasRSSI { writer.int32(12, packet.rxRSSI) }
        if packet.flags.contains(.viaMQTT) { writer.bool(14, true) }
        if packet.hopStart != 0 { writer.uint32(15, UInt32(packet.hopStart)) }
        if packet.nextHop != 0 { writer.uint32(18, UInt32(packet.nextHop)) }
        if packet.relayNode != 0 { writer.uint32(19, UInt32(packet.relayNode)) }
        if packet.transport != 0 { writer.uint32(21, UInt32(packet.transport)) }
    }

    private func writeData(_ packet: DecodedPacket, to writer: inout WireWriter) {
        writer.uint32(1, packet.port)
        if !packet.payload.isEmpty { writer.bytes(2, payload(of: packet)) }
        if packet.flags.contains(.wantResponse) { writer.bool(3, true) }
        if packet.requestID != 0 { writer.fixed32(6, packet.requestID) }
        if packet.replyID != 0 { writer.fixed32(7, packet.replyID) }
        if packet.emoji != 0 { writer.fixed32(8, packet.emoji) }
        if packet.flags.contains(.hasBitfield) { writer.uint32(9, packet.bitfield) }
        if packet.flags.contains(.hasSignature) { writer.bytes(10, bytes(packet.signature)) }
    }
}
