public import Meshtastic

/// What is done to a ledger's keys, whatever they are at that moment.
public enum KeyringChange: Sendable, Hashable {
    case addChannels([ChannelKey])
    case addPrivateKey(PrivateKey)
    /// Those of that name, or the one of them with that fingerprint.
    case removeChannels(named: String, fingerprint: UInt64?)
    /// Those of a node, or those of no particular one.
    case removePrivateKeys(node: UInt32?)

    /// - Returns: how many keys were added or removed.
    public func apply(to keyring: inout Keyring) -> Int {
        switch self {
        case .addChannels(let channels):
            var count = 0
            for channel in channels where keyring.add(channel) { count += 1 }
            return count
        case .addPrivateKey(let key): return keyring.add(key) ? 1 : 0
        case .removeChannels(let name, let fingerprint): return keyring.removeChannels(named: name, fingerprint: fingerprint)
        case .removePrivateKeys(let node): return keyring.removePrivateKeys(of: node)
        }
    }
}
