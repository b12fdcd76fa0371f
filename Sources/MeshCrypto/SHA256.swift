internal import CCrypto

/// SHA-256, 32 bytes.
public enum SHA256 {
    public static func hash(_ bytes: [UInt8]) -> [UInt8] { unsafe hash(bytes.span.bytes) }

    public static func hash(_ bytes: RawSpan) -> [UInt8] {
        var context = SHA256Context()
        context.update(bytes)
        return context.finish().bytes
    }
}

/// The 32 bytes of a SHA-256, as a value without a reference.
public struct SHA256Digest: Sendable, Hashable {
    public static let size = 32

    /// The bytes in their order in memory.
    private var words: InlineArray<4, UInt64> = [0, 0, 0, 0]

    init() {}

    /// Nil for other than 32 bytes.
    public init?(_ bytes: RawSpan) {
        guard bytes.byteCount == Self.size else { return nil }
        for index in words.indices {
            words[index] = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: 8 * index, as: UInt64.self)
        }
    }

    public var span: RawSpan {
        @_lifetime(borrow self) get { unsafe words.span.bytes }
    }

    public var bytes: [UInt8] { unsafe span.withUnsafeBytes { unsafe [UInt8]($0) } }

    mutating func withWords(_ fill: (UnsafeMutablePointer<UInt8>) -> Void) {
        unsafe withUnsafeMutableBytes(of: &words) { room in
            if let start = room.baseAddress { unsafe fill(start.assumingMemoryBound(to: UInt8.self)) }
        }
    }

    public static func == (left: SHA256Digest, right: SHA256Digest) -> Bool {
        left.words[0] == right.words[0] && left.words[1] == right.words[1] && left.words[2] == right.words[2]
            && left.words[3] == right.words[3]
    }

    public func hash(into hasher: inout Hasher) {
        for index in words.indices { hasher.combine(words[index]) }
    }
}

/// SHA-256 over bytes that come in pieces. A plain value, so that a short message costs little beside its blocks.
public struct SHA256Context {
    private var state = SHA256_CTX()

    public init() { start() }

    /// Forgets what it was given.
    public mutating func start() { unsafe SHA256_Init(&state) }

    public mutating func update(_ bytes: RawSpan) {
        unsafe bytes.withUnsafeBytes { _ = unsafe SHA256_Update(&state, $0.baseAddress, $0.count) }
    }

    public mutating func update(_ byte: UInt8) {
        unsafe withUnsafeBytes(of: byte) { _ = unsafe SHA256_Update(&state, $0.baseAddress, 1) }
    }

    /// The hash of a byte and two or three pieces, at most 64 bytes together, when nothing was given since the start.
    public mutating func hash(_ prefix: UInt8, _ first: RawSpan, _ second: RawSpan, _ third: RawSpan = RawSpan()) -> SHA256Digest
    {
        let count = 1 + first.byteCount + second.byteCount + third.byteCount
        precondition(count <= 65)
        // One piece costs less than four.
        unsafe withUnsafeTemporaryAllocation(byteCount: 72, alignment: 8) { room in
            unsafe room.storeBytes(of: prefix, as: UInt8.self)
            unsafe Self.copy(first, to: room, at: 1)
            unsafe Self.copy(second, to: room, at: 1 + first.byteCount)
            unsafe Self.copy(third, to: room, at: 1 + first.byteCount + second.byteCount)
            _ = unsafe SHA256_Update(&state, room.baseAddress, count)
        }
        return finish()
    }

    @unsafe @inline(__always)
    private static func copy(_ piece: RawSpan, to room: UnsafeMutableRawBufferPointer, at offset: Int) {
        unsafe piece.withUnsafeBytes { piece in
            guard let source = piece.baseAddress, let target = room.baseAddress else { return }
            unsafe (target + offset).copyMemory(from: source, byteCount: piece.count)
        }
    }

    /// The hash of all it was given since the start; then it has started anew.
    public mutating func finish() -> SHA256Digest {
        var digest = SHA256Digest()
        unsafe digest.withWords { _ = unsafe SHA256_Final($0, &state) }
        start()
        return digest
    }
}
