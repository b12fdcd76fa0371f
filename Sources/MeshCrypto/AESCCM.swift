internal import CCrypto

/// AES-CCM with a 13-byte nonce (L = 2): the encryption of direct messages (a 32-byte key, a tag of 8 bytes, no associated data), and of channels with
/// authenticated encryption (16 or 32 bytes, a tag of 12, sender and destination as associated data).
public enum AESCCM {
    /// The tag of a direct message.
    public static let tagLength = 8
    public static let nonceLength = 13

    /// The plaintext, or nil if the tag does not match.
    ///
    /// - Parameters:
    ///   - key: 16 or 32 bytes.
    ///   - nonce: 13 bytes.
    ///   - tag: 4 to 16 bytes, an even number.
    ///   - associated: data that the tag covers besides the ciphertext.
    /// - Throws: `CryptoError` for a key, nonce or tag of another length, or if libcrypto has no AES-CCM.
    public static func open(
        key: [UInt8], nonce: [UInt8], ciphertext: [UInt8], tag: [UInt8], associated: [UInt8] = []
    ) throws(CryptoError) -> [UInt8]? {
        let context = try unsafe prepared(key: key, nonce: nonce, tag: tag, tagLength: tag.count)
        defer { unsafe EVP_CIPHER_CTX_free(context) }
        var plaintext = [UInt8](repeating: 0, count: ciphertext.count + 1)
        var length: Int32 = 0
        guard unsafe EVP_DecryptUpdate(context, nil, &length, nil, Int32(ciphertext.count)) == 1,
            unsafe associated.isEmpty || EVP_DecryptUpdate(context, nil, &length, associated, Int32(associated.count)) == 1,
            unsafe EVP_DecryptUpdate(context, &plaintext, &length, ciphertext, Int32(ciphertext.count)) == 1
        else { return nil }
        plaintext.removeLast()
        return plaintext
    }

    /// The ciphertext and its tag.
    ///
    /// - Parameters:
    ///   - key: 16 or 32 bytes.
    ///   - nonce: 13 bytes.
    ///   - associated: data that the tag covers besides the ciphertext.
    /// - Throws: `CryptoError` for a key, nonce or tag of another length, or if libcrypto has no AES-CCM.
    public static func seal(
        key: [UInt8], nonce: [UInt8], plaintext: [UInt8], associated: [UInt8] = [], tagLength: Int = tagLength
    ) throws(CryptoError) -> (ciphertext: [UInt8], tag: [UInt8]) {
        let context = try unsafe prepared(key: key, nonce: nonce, tag: nil, tagLength: tagLength)
        defer { unsafe EVP_CIPHER_CTX_free(context) }
        var ciphertext = [UInt8](repeating: 0, count: plaintext.count + 1)
        var tag = [UInt8](repeating: 0, count: tagLength)
        var length: Int32 = 0
        guard unsafe EVP_EncryptUpdate(context, nil, &length, nil, Int32(plaintext.count)) == 1,
            unsafe associated.isEmpty || EVP_EncryptUpdate(context, nil, &length, associated, Int32(associated.count)) == 1,
            unsafe EVP_EncryptUpdate(context, &ciphertext, &length, plaintext, Int32(plaintext.count)) == 1,
            unsafe EVP_EncryptFinal_ex(context, nil, &length) == 1,
            unsafe EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, Int32(tagLength), &tag) == 1
        else { throw CryptoError(.refused, "AES-CCM") }
        ciphertext.removeLast()
        return (ciphertext, tag)
    }

    private static func prepared(
        key: [UInt8], nonce: [UInt8], tag: [UInt8]?, tagLength: Int
    ) throws(CryptoError) -> OpaquePointer {
        guard key.count == 16 || key.count == 32, nonce.count == nonceLength else {
            throw CryptoError(.wrongKeyLength, "AES-CCM")
        }
        guard (4...16).contains(tagLength), tagLength % 2 == 0 else { throw CryptoError(.refused, "AES-CCM") }
        guard let context = unsafe EVP_CIPHER_CTX_new() else { throw CryptoError(.unavailable, "AES-CCM") }
        let direction: Int32 = tag == nil ? 1 : 0
        var expected = tag ?? []
        let cipher = unsafe key.count == 16 ? EVP_aes_128_ccm() : EVP_aes_256_ccm()
        let isReady =
            unsafe EVP_CipherInit_ex(context, cipher, nil, nil, nil, direction) == 1
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
