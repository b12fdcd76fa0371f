internal import CCrypto

/// Signatures of 64 bytes under keys of 32 bytes (RFC 8032).
public enum Ed25519 {
    /// The public key of a private one (a seed of 32 bytes).
    /// - Throws: `CryptoError` for another length, or if libcrypto has no Ed25519.
    public static func publicKey(of privateKey: [UInt8]) throws(CryptoError) -> [UInt8] {
        try RawKey(privateKey: privateKey, "ED25519").publicBytes("ED25519")
    }

    /// The signature of a message under a private key (a seed of 32 bytes).
    /// - Throws: `CryptoError` for a key of another length, or if libcrypto has no Ed25519.
    public static func sign(_ message: [UInt8], privateKey: [UInt8]) throws(CryptoError) -> [UInt8] {
        let key = try RawKey(privateKey: privateKey, "ED25519")
        guard let context = unsafe EVP_MD_CTX_new() else { throw CryptoError(.unavailable, "Ed25519") }
        defer { unsafe EVP_MD_CTX_free(context) }
        var signature = [UInt8](repeating: 0, count: 64)
        var length = 64
        guard unsafe EVP_DigestSignInit(context, nil, nil, nil, key.pointer) == 1,
            unsafe EVP_DigestSign(context, &signature, &length, message, message.count) == 1
        else { throw CryptoError(.refused, "Ed25519") }
        return signature
    }

    /// Whether the signature is that of the message under the key. Also false for keys and signatures of another length.
    public static func isValid(signature: [UInt8], of message: [UInt8], publicKey: [UInt8]) -> Bool {
        guard signature.count == 64, publicKey.count == 32 else { return false }
        guard let key = try? RawKey(publicKey: publicKey, "ED25519") else { return false }  // no key, no valid signature
        guard let context = unsafe EVP_MD_CTX_new() else { return false }
        defer { unsafe EVP_MD_CTX_free(context) }
        guard unsafe EVP_DigestVerifyInit(context, nil, nil, nil, key.pointer) == 1 else { return false }
        return unsafe EVP_DigestVerify(context, signature, 64, message, message.count) == 1
    }
}
