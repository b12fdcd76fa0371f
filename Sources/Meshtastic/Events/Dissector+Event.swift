internal import ProtobufWire

extension Dissector {
    /// Dissects an event: envelope, packet, the content that a key opens, and its payload by port.
    ///
    /// - Parameters:
    ///   - form: what the bytes are.
    ///   - bytes: the event's payload.
    ///   - keyring: the keys to try.
    ///   - publicKeys: public keys of nodes, 32 bytes each, for direct messages.
    public static func dissectEvent(
        form: CaptureForm, bytes: RawSpan, keyring: Keyring, publicKeys: [UInt32: [UInt8]] = [:]
    ) -> DissectedEvent {
        dissectEvent(form: form, bytes: bytes, opener: PacketOpener(keyring: keyring, publicKeys: publicKeys))
    }

    /// Dissects an event with an existing opener, for example for many events.
    public static func dissectEvent(form: CaptureForm, bytes: RawSpan, opener: PacketOpener) -> DissectedEvent {
        let keyring = opener.keyring
        var batch = PacketBatch()
        opener.decode(bytes, form: form, into: &batch)
        let packet = batch.packets.first ?? DecodedPacket()
        var event = DissectedEvent(form: form, packet: packet)
        if packet.opening == .channelKey, keyring.channels.indices.contains(Int(packet.keyIndex)) {
            event.channelName = keyring.channels[Int(packet.keyIndex)].name
            event.isAuthenticated = keyring.channels[Int(packet.keyIndex)].isAEAD
        }
        switch form {
        case .serviceEnvelope: event.message = dissect(bytes, message: "ServiceEnvelope")
        case .meshPacket: event.message = dissect(bytes, message: "MeshPacket")
        case .fromRadio: event.message = dissect(bytes, message: "FromRadio")
        case .unreadable: event.text = bytes.asRepairedString
        case .mqttJSON:
            event.text = bytes.asRepairedString
            if packet.hasPacket { event.message = dissect(batch.envelope(of: packet).rawSpan, message: "ServiceEnvelope") }
        }
        if let content = openedContent(packet, batch, event.summary) { event.message?.setOpened(content) }
        return event
    }

    /// The Data message that a key decrypted. The opener stores it in the arena as a whole, after the channel's name, if nothing else is there.
    private static func openedContent(
        _ packet: DecodedPacket, _ batch: PacketBatch, _ note: String
    ) -> DissectedField.Content? {
        guard packet.opening.isReadable, packet.opening != .decoded else { return nil }
        let start = packet.channelID.isEmpty ? 0 : packet.channelID.end
        let data = batch.bytes(ByteRange(truncating: start, batch.arenaCount - start))
        return DissectedField.Content(value: .message(dissect(data, message: "Data")), note: note, opened: data.asArray)
    }
}

extension DissectedMessage {
    /// Adds the decrypted content to the ciphertext.
    fileprivate mutating func setOpened(_ content: DissectedField.Content) {
        for place in fields.indices.reversed() {
            if name == "MeshPacket", fields[place].name == "encrypted" {
                fields[place].content = content
                return
            }
            if case .message(var inner) = fields[place].value, inner.name == "MeshPacket" {
                inner.setOpened(content)
                fields[place].value = .message(inner)
                return
            }
        }
    }
}
