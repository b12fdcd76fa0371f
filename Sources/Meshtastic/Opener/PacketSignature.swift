internal import MeshCrypto
internal import ProtobufWire

/// The signatures that 2.8 nodes put on broadcasts.
public enum PacketSignature {
    /// Which bytes of a packet are signed.
    public enum Form: Sendable, Hashable {
        /// Firmware 2.8.1 and later: everything that a receiver uses.
        case whole
        /// Firmware 2.8.0, which was withdrawn because of it: neither destination nor the packet that it replies to.
        case payloadOnly
    }

    /// The form in which a packet's signature matches its sender's key; nil if it does not match, or there is none.
    ///
    /// - Parameter publicKey: the sender's X25519 key, 32 bytes.
    public static func validForm(of packet: DecodedPacket, in batch: borrowing PacketBatch, publicKey: [UInt8]) -> Form? {
        guard packet.flags.contains(.hasSignature), packet.opening.isReadable, let key = XEdDSA.ed25519Key(of: publicKey) else {
            return nil
        }
        let payload = batch.arena.rawSpan.bytes(packet.payload).asArray
        let signature = batch.arena.rawSpan.bytes(packet.signature).asArray
        return [Form.whole, .payloadOnly].first { form in
            Ed25519.isValid(signature: signature, of: signedBytes(of: packet, payload: payload, form), publicKey: key)
        }
    }

    /// The signed bytes; numbers have four bytes, the lowest first. Up to 2.8.0: sender, id, port, then the payload. Since 2.8.1: a byte 1, sender, id,
    /// destination, port, `request_id`, `reply_id`, emoji, bitfield (0 if missing), a byte of flags (1 wants a response, 2 has a bitfield), then the
    /// payload.
    public static func signedBytes(of packet: DecodedPacket, payload: [UInt8], _ form: Form) -> [UInt8] {
        switch form {
        case .payloadOnly: return [packet.from, packet.id, packet.port].flatMap(\.littleEndianBytes) + payload
        case .whole:
            let numbers = [
                packet.from, packet.id, packet.to, packet.port, packet.requestID, packet.replyID, packet.emoji, packet.bitfield,
            ]
            let flags: UInt8 =
                (packet.flags.contains(.wantResponse) ? 1 : 0) | (packet.flags.contains(.hasBitfield) ? 2 : 0)
            return [1] + numbers.flatMap(\.littleEndianBytes) + [flags] + payload
        }
    }
}
