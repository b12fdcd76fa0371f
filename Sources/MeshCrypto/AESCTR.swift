internal import CCrypto

/// AES in counter mode under one key, the key schedule computed once: per message only the initial block is set.
///
/// One task at a time, hence not `Sendable`. Safe: the context is private and freed with the object.
@safe public final class AESCTR {
    private let context: OpaquePointer
    /// The bare block cipher, and room for the counter blocks of one short message.
    private let blockContext: OpaquePointer
    private let blocks: UnsafeMutableRawBufferPointer
    private static let shortLength = 16 * 20

    /// - Parameter key: 16 or 32 bytes (AES-128, AES-256).
    /// - Throws: `CryptoError` for another length, or if libcrypto has no AES.
    public init(key: [UInt8]) throws(CryptoError) {
        guard key.count == 16 || key.count == 32 else { throw CryptoError(.wrongKeyLength, "AES-CTR") }
        let isShort = key.count == 16
        guard let stream = unsafe EVP_CIPHER_CTX_new() else { throw CryptoError(.unavailable, "AES-CTR") }
        guard let block = unsafe EVP_CIPHER_CTX_new() else {
            unsafe EVP_CIPHER_CTX_free(stream)
            throw CryptoError(.unavailable, "AES-CTR")
        }
        unsafe (context, blockContext) = (stream, block)
        unsafe blocks = .allocate(byteCount: 2 * Self.shortLength, alignment: 16)
        guard unsafe EVP_EncryptInit_ex2(stream, isShort ? EVP_aes_128_ctr() : EVP_aes_256_ctr(), key, nil, nil) == 1,
            unsafe EVP_EncryptInit_ex2(block, isShort ? EVP_aes_128_ecb() : EVP_aes_256_ecb(), key, nil, nil) == 1,
            unsafe EVP_CIPHER_CTX_set_padding(block, 0) == 1
        else { throw CryptoError(.unavailable, "AES-CTR") }
    }

    deinit {
        unsafe EVP_CIPHER_CTX_free(context)
        unsafe EVP_CIPHER_CTX_free(blockContext)
        unsafe blocks.deallocate()
    }

    /// Encrypts or decrypts, which are the same.
    ///
    /// Setting an initial block costs libcrypto 3 more than the encryption of a packet. So for a short message its block cipher encrypts
    /// the counter blocks, which needs no setting; a long one, or a counter that would carry over, takes libcrypto's counter mode.
    ///
    /// - Parameters:
    ///   - iv: the initial block, its first eight bytes in the low-to-high order of the first number, and so on.
    ///   - output: at least as long as the input; may be the same memory.
    /// - Returns: false if the output is too short or libcrypto refuses; the output is then undefined.
    public func apply(iv: (UInt64, UInt64), input: UnsafeRawBufferPointer, output: UnsafeMutableRawBufferPointer) -> Bool {
        guard output.count >= input.count, input.count <= Int(Int32.max) else { return false }
        guard input.count > 0, let source = input.baseAddress, let target = output.baseAddress else { return true }
        let counter = UInt32(truncatingIfNeeded: iv.1 >> 32).byteSwapped
        guard input.count <= Self.shortLength, counter <= UInt32.max - UInt32(Self.shortLength) else {
            return unsafe applyStream(iv: iv, source, target, input.count)
        }
        guard let plain = unsafe blocks.baseAddress else { return false }
        let stream = unsafe plain + Self.shortLength
        let low = iv.1 & 0xffff_ffff
        var offset = 0
        var block = counter
        while offset < input.count {
            unsafe plain.storeBytes(of: iv.0.littleEndian, toByteOffset: offset, as: UInt64.self)
            let high = low | UInt64(block.byteSwapped) << 32
            unsafe plain.storeBytes(of: high.littleEndian, toByteOffset: offset &+ 8, as: UInt64.self)
            offset &+= 16
            block &+= 1
        }
        var length: Int32 = 0
        guard
            unsafe EVP_EncryptUpdate(
                blockContext, stream.assumingMemoryBound(to: UInt8.self), &length, plain.assumingMemoryBound(to: UInt8.self),
                Int32(truncatingIfNeeded: offset)) == 1, Int(length) == offset
        else { return false }
        unsafe Self.combine(source, stream, target, input.count)
        return true
    }

    /// The exclusive or of two strings of `count` bytes.
    @inline(__always)
    private static func combine(
        _ left: UnsafeRawPointer, _ right: UnsafeMutableRawPointer, _ target: UnsafeMutableRawPointer, _ count: Int
    ) {
        var place = 0
        while place &+ 8 <= count {
            let word =
                unsafe left.loadUnaligned(fromByteOffset: place, as: UInt64.self)
                ^ right.loadUnaligned(fromByteOffset: place, as: UInt64.self)
            unsafe target.storeBytes(of: word, toByteOffset: place, as: UInt64.self)
            place &+= 8
        }
        while place < count {
            let byte =
                unsafe left.load(fromByteOffset: place, as: UInt8.self) ^ right.load(fromByteOffset: place, as: UInt8.self)
            unsafe target.storeBytes(of: byte, toByteOffset: place, as: UInt8.self)
            place &+= 1
        }
    }

    private func applyStream(
        iv: (UInt64, UInt64), _ source: UnsafeRawPointer, _ target: UnsafeMutableRawPointer, _ count: Int
    ) -> Bool {
        let block = (iv.0.littleEndian, iv.1.littleEndian)
        var length: Int32 = 0
        let isReady = unsafe withUnsafeBytes(of: block) {
            unsafe EVP_EncryptInit_ex2(context, nil, nil, $0.assumingMemoryBound(to: UInt8.self).baseAddress, nil) == 1
        }
        return unsafe isReady
            && EVP_EncryptUpdate(
                context, target.assumingMemoryBound(to: UInt8.self), &length, source.assumingMemoryBound(to: UInt8.self),
                Int32(truncatingIfNeeded: count)) == 1
    }

    /// The input encrypted or decrypted, as new bytes.
    ///
    /// - Parameter iv: the initial block, 16 bytes.
    /// - Throws: `CryptoError.refused` for an initial block of another length, or if libcrypto refuses.
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
