internal import MeshCrypto
internal import ProtobufWire

extension PacketOpener {
    /// Ciphertext, an 8-byte tag, and four bytes that the nonce needs.
    private static let overhead = 12

    /// Gives the opener a node's public key, so that it can open messages from and to the node.
    ///
    /// - Parameter key: 32 bytes; others are ignored.
    public func learn(publicKey key: [UInt8], of node: UInt32) {
        guard key.count == 32, publicKeys[node] != key else { return }
        publicKeys[node] = key
        sealingKeys = sealingKeys.filter { $0.key & 0xffff_ffff != UInt64(node) }
    }

    /// Tries again to open an opaque direct message of the batch, after `learn`.
    ///
    /// - Returns: whether it is now readable.
    public func retryDirectMessage(at index: Int, in batch: inout PacketBatch) -> Bool {
        guard batch.packets.indices.contains(index) else { return false }
        var packet = batch.packets[index]
        guard packet.opening == .opaque, Self.looksDirect(packet) else { return false }
        guard openDirect(batch.payload(of: packet).asArray, publicKey: nil, &packet, &batch) else { return false }
        batch.packets[index] = packet
        return true
    }

    /// Whether it can be for one node: numbers below 4 are not node numbers.
    static func looksDirect(_ packet: DecodedPacket) -> Bool {
        packet.channel == 0 && packet.to > 3 && packet.to != NodeID.broadcast
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
                // The key that the sender had announced, then the one that came with the message.
                let carried = peer == packet.from ? publicKey : nil
                let found =
                    sealingKey(index, own, peer: peer).flatMap { open($0, nonce, ciphertext, tag) }
                    ?? carried.flatMap { Self.sealingKey(own, $0) }.flatMap { open($0, nonce, ciphertext, tag) }
                guard let plain = found else { continue }
                take(plain, .privateKey, &packet, &batch)
                return true
            }
        }
        return false
    }

    private func open(_ key: [UInt8], _ nonce: [UInt8], _ ciphertext: [UInt8], _ tag: [UInt8]) -> [UInt8]? {
        try? AESCCM.open(key: key, nonce: nonce, ciphertext: ciphertext, tag: tag)  // refused: not ours
    }

    /// The other side: the sender if the key is the receiver's, the receiver if it is the sender's.
    private func peers(of key: PrivateKey, _ packet: DecodedPacket) -> [UInt32] {
        switch key.node {
        case packet.to: [packet.from]
        case packet.from: [packet.to]
        case nil: [packet.from, packet.to]
        default: []
        }
    }

    private func sealingKey(_ index: Int, _ own: PrivateKey, peer: UInt32) -> [UInt8]? {
        let place = UInt64(index) << 32 | UInt64(peer)
        if let known = sealingKeys[place] { return known }
        let key = publicKeys[peer].flatMap { Self.sealingKey(own, $0) }
        if let key { sealingKeys[place] = key }
        return key
    }

    private static func sealingKey(_ own: PrivateKey, _ publicKey: [UInt8]) -> [UInt8]? {
        let secret = try? X25519.sharedSecret(privateKey: own.key, publicKey: publicKey)  // a weak key opens nothing
        return secret.map { SHA256.hash($0) }
    }

    /// The tag proves the key, so only the wire format is checked here.
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
