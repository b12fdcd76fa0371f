internal import MeshCrypto
internal import ProtobufWire

extension PacketOpener {
    /// Ciphertext, an 8-byte tag, and four bytes that the nonce needs.
    private static let overhead = 12

    /// Tells the opener a node's public key: messages from it and to it can be opened from now on.
    ///
    /// - Parameter key: 32 bytes; others are ignored.
    public func learn(publicKey key: [UInt8], of node: UInt32) {
        guard key.count == 32, publicKeys[node] != key else { return }
        publicKeys[node] = key
        sealingKeys = sealingKeys.filter { $0.key & 0xffff_ffff != UInt64(node) }
    }

    /// Tries again to open an opaque direct message of the batch, after `learn`.
    ///
    /// - Returns: whether it is readable now.
    public func retryDirectMessage(at index: Int, in batch: inout PacketBatch) -> Bool {
        guard batch.packets.indices.contains(index) else { return false }
        var packet = batch.packets[index]
        guard packet.opening == .opaque, packet.channel == 0 else { return false }
        guard openDirect(batch.payload(of: packet).asArray, publicKey: nil, &packet, &batch) else { return false }
        batch.packets[index] = packet
        return true
    }

    @inline(never)
    func openDirect(
        _ bytes: RawSpan, _ content: PacketContent, _ packet: inout DecodedPacket, _ batch: inout PacketBatch
    ) -> Bool {
        guard content.range.count > Self.overhead else { return false }
        let publicKey = content.publicKey.count == 32 ? bytes.bytes(content.publicKey).asArray : nil
        return openDirect(bytes.bytes(content.range).asArray, publicKey: publicKey, &packet, &batch)
    }

    private func openDirect(
        _ sealed: [UInt8], publicKey: [UInt8]?, _ packet: inout DecodedPacket, _ batch: inout PacketBatch
    ) -> Bool {
        guard sealed.count > Self.overhead else { return false }
        let ciphertext = Array(sealed[..<(sealed.count - Self.overhead)])
        let tag = Array(sealed[ciphertext.count..<(ciphertext.count + AESCCM.tagLength)])
        let extra = Array(sealed.suffix(4))
        let nonce = packet.id.littleEndianBytes + extra + packet.from.littleEndianBytes + [0]
        for (index, own) in keyring.privateKeys.enumerated() {
            for peer in peers(of: own, packet) {
                guard let key = sealingKey(index, own, peer: peer, given: peer == packet.from ? publicKey : nil),
                    let plain = try? AESCCM.open(key: key, nonce: nonce, ciphertext: ciphertext, tag: tag)  // refused: not ours
                else { continue }
                take(plain, .privateKey, &packet, &batch)
                return true
            }
        }
        return false
    }

    /// The other side: the sender where the key is the receiver's, the receiver where it is the sender's own.
    private func peers(of key: PrivateKey, _ packet: DecodedPacket) -> [UInt32] {
        switch key.node {
        case packet.to: [packet.from]
        case packet.from: [packet.to]
        case nil: [packet.from, packet.to]
        default: []
        }
    }

    private func sealingKey(_ index: Int, _ own: PrivateKey, peer: UInt32, given: [UInt8]?) -> [UInt8]? {
        let place = UInt64(index) << 32 | UInt64(peer)
        if let known = sealingKeys[place] { return known }
        guard let publicKey = publicKeys[peer] ?? given,
            let secret = try? X25519.sharedSecret(privateKey: own.key, publicKey: publicKey)  // a weak key opens nothing
        else { return nil }
        let key = SHA256.hash(secret)
        if publicKeys[peer] != nil { sealingKeys[place] = key }
        return key
    }

    /// The tag has proved the key, so only the wire format is asked for here.
    func take(_ plain: [UInt8], _ opening: Opening, _ packet: inout DecodedPacket, _ batch: inout PacketBatch) {
        let range = batch.append(bytes: plain.rawSpan)
        packet.opening = opening
        do throws(WireError) {
            let fields = try DataFields(batch.arena.rawSpan, range)
            packet.take(fields)
            _ = try PayloadCheck.isPlausible(port: fields.port, batch.arena.rawSpan, fields.payload)
            if fields.port == 0 { packet.failure = DecodeFailure(.malformedData, .invalidValue) }
        } catch {
            packet.failure =
                packet.port == 0
                ? DecodeFailure(.malformedData, error.code)
                : DecodeFailure(.malformedPayload, error.code, port: packet.port, offset: error.offset &- packet.payload.start)
        }
    }
}

extension UInt32 {
    /// Four bytes, the lowest first.
    var littleEndianBytes: [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: self >> (8 * UInt32($0))) } }
}
