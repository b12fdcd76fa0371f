internal import CCrypto

/// AES-256-CCM with an 8-byte tag and a 13-byte nonce (L = 2), without associated data: what direct messages are sealed with.
public enum AESCCM {
    public static let tagLength = 8
    public static let nonceLength = 13

    /// The plaintext, or nil when the tag does not fit.
    ///
    /// - Parameters:
    ///   - key: 32 bytes.
    ///   - nonce: 13 bytes.
    ///   - tag: 8 bytes.
    public static func open(key: [UInt8], nonce: [UInt8], ciphertext: [UInt8], tag: [UInt8]) throws(CryptoError) -> [UInt8]? {
        guard tag.count == tagLength else { throw CryptoError(.refused, "AES-CCM") }
        let context = try unsafe prepared(key: key, nonce: nonce, tag: tag)
        defer { unsafe EVP_CIPHER_CTX_free(context) }
        var plaintext = [UInt8](repeating: 0, count: ciphertext.count + 1)
        var length: Int32 = 0
        guard unsafe EVP_DecryptUpdate(context, nil, &length, nil, Int32(ciphertext.count)) == 1 else { return nil }
        guard unsafe EVP_DecryptUpdate(context, &plaintext, &length, ciphertext, Int32(ciphertext.count)) == 1 else { return nil }
        plaintext.removeLast()
        return plaintext
    }

    /// The ciphertext and its tag.
    ///
    /// - Parameters:
    ///   - key: 32 bytes.
    ///   - nonce: 13 bytes.
    public static func seal(
        key: [UInt8], nonce: [UInt8], plaintext: [UInt8]
    ) throws(CryptoError) -> (ciphertext: [UInt8], tag: [UInt8]) {
        let context = try unsafe prepared(key: key, nonce: nonce, tag: nil)
        defer { unsafe EVP_CIPHER_CTX_free(context) }
        var ciphertext = [UInt8](repeating: 0, count: plaintext.count + 1)
        var tag = [UInt8](repeating: 0, count: tagLength)
        var length: Int32 = 0
        guard unsafe EVP_EncryptUpdate(context, nil, &length, nil, Int32(plaintext.count)) == 1,
            unsafe EVP_EncryptUpdate(context, &ciphertext, &length, plaintext, Int32(plaintext.count)) == 1,
            unsafe EVP_EncryptFinal_ex(context, nil, &length) == 1,
            unsafe EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, Int32(tagLength), &tag) == 1
        else { throw CryptoError(.refused, "AES-CCM") }
        ciphertext.removeLast()
        return (ciphertext, tag)
    }

    private static func prepared(key: [UInt8], nonce: [UInt8], tag: [UInt8]?) throws(CryptoError) -> OpaquePointer {
        guard key.count == 32, nonce.count == nonceLength else { throw CryptoError(.wrongKeyLength, "AES-CCM") }
        guard let context = unsafe EVP_CIPHER_CTX_new() else { throw CryptoError(.unavailable, "AES-CCM") }
        let direction: Int32 = tag == nil ? 1 : 0
        var expected = tag ?? []
        let isReady =
            unsafe EVP_CipherInit_ex(context, EVP_aes_256_ccm(), nil, nil, nil, direction) == 1
            && EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_IVLEN, Int32(nonceLength), nil) == 1
            && (tag == nil
                ? EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(tagLength), nil) == 1
                : EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(tagLength), &expected) == 1)
            && EVP_CipherInit_ex(context, nil, nil, key, nonce, direction) == 1
        guard isReady else {
            unsafe EVP_CIPHER_CTX_free(context)
            throw CryptoError(.refused, "AES-CCM")
        }
        return unsafe context
    }
}
