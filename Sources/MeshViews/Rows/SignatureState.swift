/// What is known of a packet's signature.
public enum SignatureState: UInt8, Sendable, Codable, CaseIterable {
    /// It has none, as all packets before firmware 2.8 and all direct messages.
    case none = 0
    /// Its sender had not announced a public key before.
    case unchecked = 1
    /// The holder of the first key that the sender announced has signed it as firmware 2.8.0 did, without addressee and what it answers: these may be
    /// forged.
    case valid280 = 2
    /// It is not that of the first key that the sender announced: the sender's number may be forged.
    case invalid = 3
    /// The holder of the first key that the sender announced has signed it, addressee and what it answers included, as firmware does since 2.8.1.
    case valid = 4
}
