internal import CCrypto

/// A key of libcrypto made from its raw bytes. Safe: the pointer is private to this module and freed with the object.
@safe final class RawKey {
    let pointer: OpaquePointer

    init(privateKey: [UInt8], _ algorithm: String) throws(CryptoError) {
        guard privateKey.count == 32 else { throw CryptoError(.wrongKeyLength, algorithm) }
        guard let key = unsafe EVP_PKEY_new_raw_private_key_ex(nil, algorithm, nil, privateKey, privateKey.count) else {
            throw CryptoError(.refused, algorithm)
        }
        unsafe pointer = key
    }

    init(publicKey: [UInt8], _ algorithm: String) throws(CryptoError) {
        guard publicKey.count == 32 else { throw CryptoError(.wrongKeyLength, algorithm) }
        guard let key = unsafe EVP_PKEY_new_raw_public_key_ex(nil, algorithm, nil, publicKey, publicKey.count) else {
            throw CryptoError(.refused, algorithm)
        }
        unsafe pointer = key
    }

    deinit { unsafe EVP_PKEY_free(pointer) }

    /// The 32 bytes of the public key.
    func publicBytes(_ algorithm: String) throws(CryptoError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 32)
        var length = 32
        guard unsafe EVP_PKEY_get_raw_public_key(pointer, &bytes, &length) == 1, length == 32 else {
            throw CryptoError(.refused, algorithm)
        }
        return bytes
    }
}
