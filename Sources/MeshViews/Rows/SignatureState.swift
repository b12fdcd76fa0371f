/// What is known of a packet's signature.
public enum SignatureState: UInt8, Sendable, Codable, CaseIterable {
    /// It has none, like all packets before firmware 2.8 and all direct messages.
    case none = 0
    /// Its sender had not announced a public key before.
    case unchecked = 1
    /// The holder of the sender's first announced key has signed it as firmware 2.8.0 did, without destination and reply id: these may be
    /// forged.
    case valid280 = 2
    /// It does not match the sender's first announced key: the sender's number may be forged.
    case invalid = 3
    /// The holder of the sender's first announced key has signed it, including destination and reply id, as firmware does since 2.8.1.
    case valid = 4
}
