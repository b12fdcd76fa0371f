internal import MeshCrypto
internal import ProtobufWire

/// The signatures that 2.8 nodes put on broadcasts.
public enum PacketSignature {
    /// Whether a packet's signature is that of its sender. False where it has none.
    ///
    /// - Parameter publicKey: the sender's X25519 key, 32 bytes.
    public static func isValid(_ packet: DecodedPacket, in batch: borrowing PacketBatch, publicKey: [UInt8]) -> Bool {
        guard packet.flags.contains(.hasSignature), packet.opening.isReadable else { return false }
        let signed = signedBytes(
            from: packet.from, id: packet.id, port: packet.port, payload: batch.arena.rawSpan.bytes(packet.payload).asArray)
        let signature = batch.arena.rawSpan.bytes(packet.signature).asArray
        return XEdDSA.isValid(signature: signature, of: signed, x25519PublicKey: publicKey)
    }

    /// What is signed: sender, id and port, four bytes each with the lowest first, then the payload.
    public static func signedBytes(from: UInt32, id: UInt32, port: UInt32, payload: [UInt8]) -> [UInt8] {
        from.littleEndianBytes + id.littleEndianBytes + port.littleEndianBytes + payload
    }
}
