import Meshtastic

/// Decrypts direct messages with the user's private keys and the public keys that nodes announced before.
///
/// Synchronization: only the sequential stage uses it, one batch after the other, hence unchecked.
final class DirectMessages: @unchecked Sendable {
    private let opener: PacketOpener

    init(keyring: Keyring) { opener = PacketOpener(keyring: keyring) }

    /// - Returns: whether it is open now and was not before.
    func open(_ index: Int, in batch: inout MeshBatch) -> Bool {
        batch.packets.packets[index].opening == .opaque && opener.retryDirectMessage(at: index, in: &batch.packets)
    }

    func learn(_ key: [UInt8], of node: UInt32) { opener.learn(publicKey: key, of: node) }
}
