internal import CCrypto

/// SHA-256, 32 bytes.
public enum SHA256 {
    public static func hash(_ bytes: [UInt8]) -> [UInt8] { unsafe hash(bytes.span.bytes) }

    public static func hash(_ bytes: RawSpan) -> [UInt8] {
        let hasher = SHA256Hasher()
        hasher.update(bytes)
        return hasher.finish()
    }
}

/// SHA-256 over bytes that come in pieces, with one reused context.
///
/// One task at a time. Safe: the context is private and freed with the object.
@safe public final class SHA256Hasher {
    private let context: OpaquePointer
    private let algorithm: OpaquePointer?

    public init() {
        guard let created = unsafe EVP_MD_CTX_new() else { preconditionFailure("no memory for a hash context") }
        unsafe context = created
        unsafe algorithm = EVP_MD_fetch(nil, "SHA256", nil)
        reset()
    }

    deinit {
        unsafe EVP_MD_CTX_free(context)
        unsafe EVP_MD_free(algorithm)
    }

    /// Forgets what it was given.
    public func reset() { _ = unsafe EVP_DigestInit_ex2(context, algorithm, nil) }

    public func update(_ bytes: RawSpan) {
        unsafe bytes.withUnsafeBytes { _ = unsafe EVP_DigestUpdate(context, $0.baseAddress, $0.count) }
    }

    public func update(_ bytes: [UInt8]) { _ = unsafe EVP_DigestUpdate(context, bytes, bytes.count) }

    /// The hash of all it was given since the last `reset`; then it is as after `reset`.
    public func finish() -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: 32)
        _ = unsafe EVP_DigestFinal_ex(context, &digest, nil)
        reset()
        return digest
    }

    /// As `finish()`, into 32 bytes that the caller has.
    public func finish(into digest: inout [UInt8]) {
        precondition(digest.count >= 32, "a SHA-256 has 32 bytes")
        _ = unsafe EVP_DigestFinal_ex(context, &digest, nil)
        reset()
    }
}
