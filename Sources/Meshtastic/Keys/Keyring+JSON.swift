internal import Foundation

/// The form of `keys.json`: keys in base64, nodes as `!hex`.
extension Keyring: Codable {
    private struct StoredChannel: Codable {
        var name: String
        var psk: String
        /// Absent for false.
        var aead: Bool?
    }

    private struct StoredPrivateKey: Codable {
        var node: String?
        var key: String
    }

    private enum CodingKeys: String, CodingKey { case channels, privateKeys }

    /// - Throws: `DecodingError` or `KeyError`.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let channels = try container.decodeIfPresent([StoredChannel].self, forKey: .channels) ?? []
        let keys = try container.decodeIfPresent([StoredPrivateKey].self, forKey: .privateKeys) ?? []
        self.init(
            channels: try channels.map { try ChannelKey(name: $0.name, base64: $0.psk, isAEAD: $0.aead ?? false) },
            privateKeys: try keys.map { stored in
                guard let key = Data(base64Encoded: stored.key) else { throw KeyError.notBase64 }
                guard let text = stored.node else { return try PrivateKey(node: nil, key: Array(key)) }
                guard let node = NodeID.parse(text) else { throw KeyError.notANode(text) }
                return try PrivateKey(node: node, key: Array(key))
            })
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(
            channels.map {
                StoredChannel(name: $0.name, psk: Data($0.psk).base64EncodedString(), aead: $0.isAEAD ? true : nil)
            }, forKey: .channels)
        try container.encode(
            privateKeys.map { key in
                StoredPrivateKey(node: key.node.map { NodeID.text($0) }, key: Data(key.key).base64EncodedString())
            }, forKey: .privateKeys)
    }
}
