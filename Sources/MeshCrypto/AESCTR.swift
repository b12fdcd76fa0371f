internal import CCrypto

/// AES in counter mode under one key, the key schedule computed once: per message only the initial block is set.
///
/// One task at a time, hence not `Sendable`. Safe: the context is private and freed with the object.
@safe public final class AESCTR {
    private let context: OpaquePointer

    /// - Parameter key: 16 or 32 bytes (AES-128, AES-256).
    /// - Throws: `CryptoError` for another length, or where libcrypto has no AES.
    public init(key: [UInt8]) throws(CryptoError) {
        let cipher: OpaquePointer?
        switch key.count {
        case 16: unsafe cipher = EVP_aes_128_ctr()
        case 32: unsafe cipher = EVP_aes_256_ctr()
        default: throw CryptoError(.wrongKeyLength, "AES-CTR")
        }
        guard let created = unsafe EVP_CIPHER_CTX_new() else { throw CryptoError(.unavailable, "AES-CTR") }
        unsafe context = created
        guard unsafe EVP_EncryptInit_ex2(created, cipher, key, nil, nil) == 1 else {
            throw CryptoError(.unavailable, "AES-CTR")
        }
    }

    deinit { unsafe EVP_CIPHER_CTX_free(context) }

    /// Encrypts or decrypts, which is the same.
    ///
    /// - Parameters:
    ///   - iv: the initial block, its first eight bytes in the low-to-high order of the first number, and so on.
    ///   - output: at least as long as the input; may be the same memory.
    /// - Returns: false when the output is too short or libcrypto refuses; the output is then undefined.
    public func apply(iv: (UInt64, UInt64), input: UnsafeRawBufferPointer, output: UnsafeMutableRawBufferPointer) -> Bool {
        guard output.count >= input.count, input.count <= Int(Int32.max) else { return false }
        var block = (iv.0.littleEndian, iv.1.littleEndian)
        var length: Int32 = 0
        let isReady = unsafe withUnsafeBytes(of: &block) {
            unsafe EVP_EncryptInit_ex2(context, nil, nil, $0.assumingMemoryBound(to: UInt8.self).baseAddress, nil) == 1
        }
        guard isReady else { return false }
        guard input.count > 0 else { return true }
        return unsafe EVP_EncryptUpdate(
            context, output.assumingMemoryBound(to: UInt8.self).baseAddress, &length,
            input.assumingMemoryBound(to: UInt8.self).baseAddress, Int32(truncatingIfNeeded: input.count)) == 1
    }

    /// The input encrypted or decrypted, as new bytes.
    ///
    /// - Parameter iv: the initial block, 16 bytes.
    public func apply(iv: [UInt8], _ input: [UInt8]) throws(CryptoError) -> [UInt8] {
        guard iv.count == 16 else { throw CryptoError(.refused, "AES-CTR") }
        var halves: (UInt64, UInt64) = (0, 0)
        for index in 0..<8 {
            halves.0 |= UInt64(iv[index]) << UInt64(8 * index)
            halves.1 |= UInt64(iv[8 + index]) << UInt64(8 * index)
        }
        var output = [UInt8](repeating: 0, count: input.count)
        let isDone = unsafe output.withUnsafeMutableBytes { target in
            unsafe input.withUnsafeBytes { unsafe apply(iv: halves, input: $0, output: target) }
        }
        guard isDone else { throw CryptoError(.refused, "AES-CTR") }
        return output
    }
}
