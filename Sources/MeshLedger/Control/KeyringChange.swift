public import Meshtastic

/// A change to a ledger's keys, applied to those that exist at that time.
public enum KeyringChange: Sendable, Hashable {
    case addChannels([ChannelKey])
    case addPrivateKey(PrivateKey)
    /// Those of that name, optionally only those with that fingerprint, or with or without authenticated encryption.
    case removeChannels(named: String, fingerprint: UInt64?, isAEAD: Bool? = nil)
    /// Those of a node, or those without a node.
    case removePrivateKeys(node: UInt32?)

    /// - Returns: how many keys were added or removed.
    public func apply(to keyring: inout Keyring) -> Int {
        switch self {
        case .addChannels(let channels):
            var count = 0
            for channel in channels where keyring.add(channel) { count += 1 }
            return count
        case .addPrivateKey(let key): return keyring.add(key) ? 1 : 0
        case .removeChannels(let name, let fingerprint, let isAEAD):
            return keyring.removeChannels(named: name, fingerprint: fingerprint, isAEAD: isAEAD)
        case .removePrivateKeys(let node): return keyring.removePrivateKeys(of: node)
        }
    }
}
