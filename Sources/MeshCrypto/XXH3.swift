internal import CXXHash

/// The 64-bit XXH3 checksum of Debian's libxxhash: it detects accidental damage, not forgery.
public enum XXH3 {
    public static func hash(_ bytes: RawSpan, seed: UInt64 = 0) -> UInt64 {
        unsafe bytes.withUnsafeBytes { unsafe XXH3_64bits_withSeed($0.baseAddress, $0.count, seed) }
    }

    public static func hash(_ bytes: [UInt8], seed: UInt64 = 0) -> UInt64 { unsafe hash(bytes.span.bytes, seed: seed) }
}

/// XXH3 over bytes in pieces; the same number as `XXH3.hash` over all of them.
///
/// One task at a time; `reset` makes it reusable without an allocation. Safe: the state is private and freed with the object.
@safe public final class XXH3Hasher {
    private let state: OpaquePointer
    private let seed: UInt64

    /// - Parameter seed: the same as for `XXH3.hash`.
    public init(seed: UInt64 = 0) {
        guard let created = unsafe XXH3_createState() else { preconditionFailure("no memory for a checksum state") }
        unsafe state = created
        self.seed = seed
        reset()
    }

    deinit { unsafe XXH3_freeState(state) }

    public func reset() { _ = unsafe XXH3_64bits_reset_withSeed(state, seed) }

    public func update(_ bytes: RawSpan) {
        unsafe bytes.withUnsafeBytes { _ = unsafe XXH3_64bits_update(state, $0.baseAddress, $0.count) }
    }

    public var value: UInt64 { unsafe XXH3_64bits_digest(state) }
}
