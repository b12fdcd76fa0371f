public import Foundation

/// Vectors of channels with authenticated encryption, and of signatures, as firmware 2.8.1 makes them.
public struct Firmware281: Decodable, Sendable {
    /// A packet of such a channel.
    public struct Sealed: Decodable, Sendable {
        public var name, channel_name, psk_hex, ciphertext_with_tag_hex: String
        public var channel_hash, ctr_channel_hash: UInt8
        public var from, to, id: UInt32
        public var plaintext_hex: String?
    }

    /// A text with its signature in either form.
    public struct Signed: Decodable, Sendable {
        public var from, to, id, portnum, request_id, reply_id, emoji: UInt32
        public var bitfield: UInt32?
        public var want_response: Bool
        public var payload_hex, public_key_hex, signed_hex, signed_2_8_0_hex, signature_hex, signature_2_8_0_hex: String
    }

    public var accept, refuse: [Sealed]
    public var signatures: [Signed]?

    /// Made by Tests/Oracle/make_vectors.py.
    public static let ours = PackageRoot.url.appendingPathComponent("Tests/Fixtures/firmware-2.8.1.json")
    /// Ours, and the published ones, which are beside a developer's checkout.
    public static let files = [ours, SharedFolder.file("wire/aead-vectors.json")]

    public static func load(_ url: URL = ours) throws -> Firmware281 {
        try JSONDecoder().decode(Firmware281.self, from: Data(contentsOf: url))
    }
}
