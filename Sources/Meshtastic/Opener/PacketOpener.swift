internal import MeshCrypto
internal import ProtobufWire

/// Turns events into packets: fields, decryption, payload check. Holds the cipher contexts of a keyring.
///
/// ```swift
/// let opener = PacketOpener(keyring: .standard)
/// var batch = PacketBatch(packets: 1000, bytes: 100_000)
/// opener.decode(span, form: .serviceEnvelope, into: &batch)
/// ```
/// One per thread, hence not `Sendable`. Never throws and never traps: a packet that cannot be read contains the reason.
///
/// Channel encryption does not prove a key, so a key counts as the right one only if the result is packet content in the order in
/// which encoders write it, with a valid port, known fields of the right types, and a payload that parses to its end; at least four bytes.
/// Keys of channels with the packet's hash are tried first, then no key, then all other keys: the channel may have an unknown name. If none matches,
/// a key of the packet's hash is also accepted if official decoders accept the result: such a packet is marked as damaged.
///
/// A channel with authenticated encryption proves its key with a tag. A packet with its hash and another tag is opened only by
/// another channel of that hash.
public final class PacketOpener {
    public let keyring: Keyring
    /// Public keys of nodes, 32 bytes each, for direct messages.
    public internal(set) var publicKeys: [UInt32: [UInt8]]

    /// A context for each distinct key of the keyring.
    let ciphers: [AESCTR]
    /// The first channel that has the key of a cipher.
    let channelOfCipher: [UInt16]
    /// The cipher of each channel; -1 for a channel without encryption, `aead` for one with a tag.
    let cipherOfChannel: [Int16]
    static let aead: Int16 = -2
    /// Whether a channel with a tag has this hash.
    let hasAEAD: [Bool]
    /// Channels ordered by hash; those with hash `h` are at `firstOfHash[h]..<firstOfHash[h + 1]`.
    let channelsByHash: [UInt16]
    let firstOfHash: [UInt16]
    /// Previously computed encryption keys, by index of the private key and peer.
    var sealingKeys: [UInt64: [UInt8]] = [:]

    /// - Parameters:
    ///   - keyring: the keys to try.
    ///   - publicKeys: public keys of nodes, 32 bytes each; only direct messages need them.
    public init(keyring: Keyring, publicKeys: [UInt32: [UInt8]] = [:]) {
        self.keyring = keyring
        self.publicKeys = publicKeys
        var ciphers: [AESCTR] = []
        var channelOfCipher: [UInt16] = []
        var known: [[UInt8]: Int16] = [:]
        var cipherOfChannel: [Int16] = []
        for (index, channel) in keyring.channels.enumerated() {
            if channel.isAEAD {
                cipherOfChannel.append(Self.aead)
            } else if let cipher = known[channel.key] {
                cipherOfChannel.append(cipher)
            } else if ciphers.count < Int(Int16.max), let cipher = try? AESCTR(key: channel.key) {  // no key: no cipher
                known[channel.key] = Int16(ciphers.count)
                cipherOfChannel.append(Int16(ciphers.count))
                channelOfCipher.append(UInt16(truncatingIfNeeded: index))
                ciphers.append(cipher)
            } else {
                cipherOfChannel.append(-1)
            }
        }
        var byHash: [UInt16] = []
        var firstOfHash: [UInt16] = [0]
        for hash in UInt8.min...UInt8.max {
            for (index, channel) in keyring.channels.enumerated() where channel.hash == hash {
                byHash.append(UInt16(truncatingIfNeeded: index))
            }
            firstOfHash.append(UInt16(truncatingIfNeeded: byHash.count))
        }
        self.ciphers = ciphers
        self.channelOfCipher = channelOfCipher
        self.cipherOfChannel = cipherOfChannel
        hasAEAD = (UInt8.min...UInt8.max).map { hash in keyring.channels.contains { $0.isAEAD && $0.hash == hash } }
        channelsByHash = byHash
        self.firstOfHash = firstOfHash
    }

    /// Decodes one event and appends exactly one packet, with its bytes, to the batch.
    ///
    /// - Parameters:
    ///   - bytes: the event's payload.
    ///   - form: what the bytes are.
    public func decode(_ bytes: RawSpan, form: CaptureForm, into batch: inout PacketBatch) {
        var packet = DecodedPacket()
        switch form {
        case .serviceEnvelope: decodeEnvelope(bytes, &packet, &batch)
        case .meshPacket: decodeBarePacket(bytes, &packet, &batch)
        case .fromRadio: decodeFromRadio(bytes, &packet, &batch)
        case .mqttJSON: return JSONForm.decode(bytes, into: &batch)
        case .unreadable: fail(&packet, DecodeFailure(.unreadable))
        }
        batch.packets.append(packet)
    }

    /// Like `decode`, for a stored form; an unknown one makes a packet with that failure.
    public func decode(_ bytes: RawSpan, rawForm: UInt8, into batch: inout PacketBatch) {
        if let form = CaptureForm(rawValue: rawForm) { return decode(bytes, form: form, into: &batch) }
        var packet = DecodedPacket()
        fail(&packet, DecodeFailure(.unknownForm))
        batch.packets.append(packet)
    }

    /// Turns the packet read so far into a broken one: only the failure remains.
    func fail(_ packet: inout DecodedPacket, _ failure: DecodeFailure) {
        packet = DecodedPacket()
        packet.opening = .invalid
        packet.failure = failure
    }
}
