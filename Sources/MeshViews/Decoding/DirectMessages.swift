import Meshtastic
import Projections
import ProtobufWire

/// Opens direct messages with the private keys that the user gave and the public keys that nodes announced before.
///
/// Synchronization: only the sequential stage uses it, one batch after the other, hence unchecked.
final class DirectMessages: @unchecked Sendable {
    static let entryKind = UInt8(ascii: "k")

    private let opener: PacketOpener
    private var known: Set<UInt32> = []

    init(keyring: Keyring) { opener = PacketOpener(keyring: keyring) }

    func open(_ index: Int, in batch: inout MeshBatch) {
        guard batch.packets.packets[index].opening == .opaque else { return }
        _ = opener.retryDirectMessage(at: index, in: &batch.packets)
    }

    /// The first key that a node announces is the one that counts.
    func learnPublicKey(_ index: Int, in batch: inout MeshBatch) {
        let packet = batch.packets.packets[index]
        guard !known.contains(packet.from),
            let user = try? User(decoding: batch.packets.payload(of: packet)),  // malformed: the nodes view lists it
            user.publicKey.count == 32
        else { return }
        learn(user.publicKey, of: packet.from)
        batch.carry.entries.append(
            Carry.Entry(
                sequence: batch.stamps[index].sequence, key: [Self.entryKind] + bigEndian(packet.from), value: user.publicKey))
    }

    func restore(_ entry: Carry.Entry) {
        guard entry.key.count == 5 else { return }
        learn(entry.value, of: entry.key.rawSpan.bigEndianUInt32(at: 1))
    }

    private func learn(_ key: [UInt8], of node: UInt32) {
        known.insert(node)
        opener.learn(publicKey: key, of: node)
    }
}
