internal import MeshCrypto
internal import ProtobufWire

extension PacketOpener {
    /// It follows the ciphertext.
    private static let tagLength = 12

    /// Opens a packet of a channel with authenticated encryption. The tag covers the content, the id, sender and destination; it does not cover the hash and
    /// the fields that relays change.
    @inline(never)
    func trySealed(
        _ channel: UInt16, _ bytes: RawSpan, _ range: ByteRange, _ packet: inout DecodedPacket, _ batch: inout PacketBatch
    ) -> Bool {
        guard range.count > Self.tagLength else { return false }
        let sealed = bytes.bytes(range).asArray
        let from = packet.from.littleEndianBytes
        let plain = try? AESCCM.open(  // refused: too long for the cipher, so never encrypted by it
            key: keyring.channels[Int(channel)].key, nonce: packet.id.littleEndianBytes + [0, 0, 0, 0] + from + [0],
            ciphertext: Array(sealed.dropLast(Self.tagLength)), tag: Array(sealed.suffix(Self.tagLength)),
            associated: from + packet.to.littleEndianBytes)
        guard let plain else { return false }
        take(plain, .channelKey, &packet, &batch)
        packet.keyIndex = channel
        return true
    }
}
