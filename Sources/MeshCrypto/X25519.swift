internal import CCrypto

/// Agreement of two 32-byte keys on a shared secret (RFC 7748).
public enum X25519 {
    /// The public key of a private one.
    /// - Throws: `CryptoError` unless the key has 32 bytes, or if libcrypto has no X25519.
    public static func publicKey(of privateKey: [UInt8]) throws(CryptoError) -> [UInt8] {
        try RawKey(privateKey: privateKey, "X25519").publicBytes("X25519")
    }

    /// The secret that both sides compute.
    ///
    /// - Throws: `CryptoError.refused` for a weak public key, with which the secret would always be zero; `.wrongKeyLength`
    ///   unless both keys have 32 bytes.
    public static func sharedSecret(privateKey: [UInt8], publicKey: [UInt8]) throws(CryptoError) -> [UInt8] {
        let own = try RawKey(privateKey: privateKey, "X25519")
        let peer = try RawKey(publicKey: publicKey, "X25519")
        guard let context = unsafe EVP_PKEY_CTX_new(own.pointer, nil) else { throw CryptoError(.unavailable, "X25519") }
        defer { unsafe EVP_PKEY_CTX_free(context) }
        var secret = [UInt8](repeating: 0, count: 32)
        var length = 32
        guard unsafe EVP_PKEY_derive_init(context) == 1, unsafe EVP_PKEY_derive_set_peer(context, peer.pointer) == 1,
            unsafe EVP_PKEY_derive(context, &secret, &length) == 1, secret.contains(where: { $0 != 0 })
        else { throw CryptoError(.refused, "X25519") }
        return secret
    }
}
