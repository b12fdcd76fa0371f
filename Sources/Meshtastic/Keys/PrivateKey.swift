/// A node's X25519 private key: opens its direct messages.
public struct PrivateKey: Sendable, Hashable {
    /// The owner's node number; nil to try it on every direct message.
    public let node: UInt32?
    /// 32 bytes.
    public let key: [UInt8]

    /// - Throws: `KeyError.wrongLength` unless the key has 32 bytes.
    public init(node: UInt32?, key: [UInt8]) throws(KeyError) {
        guard key.count == 32 else { throw .wrongLength(key.count) }
        self.node = node
        self.key = key
    }
}
