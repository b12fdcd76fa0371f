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
    public private(set) var words: InlineArray<4, UInt64> = [0, 0, 0, 0]

    init() {}

    /// Nil unless there are 32 bytes.
    public init?(_ bytes: RawSpan) {
        guard bytes.byteCount == Self.size else { return nil }
        for index in words.indices {
            words[index] = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: 8 * index, as: UInt64.self)
        }
    }

    /// From the eight words of the state after the last block.
    init(_ state: (UInt32, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32, UInt32)) {
        words = [
            Self.pair(state.0, state.1), Self.pair(state.2, state.3), Self.pair(state.4, state.5), Self.pair(state.6, state.7),
        ]
    }

    /// The words' bytes, each from the highest on, one word after the other, as they are in memory.
    private static func pair(_ first: UInt32, _ second: UInt32) -> UInt64 { (UInt64(first) << 32 | UInt64(second)).bigEndian }

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

/// SHA-256 over bytes in pieces. A plain value, so that a short message costs little besides its blocks.
public struct SHA256Context {
    private var state = SHA256_CTX()

    public init() { start() }

    /// Discards all previous input.
    public mutating func start() { unsafe SHA256_Init(&state) }

    public mutating func update(_ bytes: RawSpan) {
        unsafe bytes.withUnsafeBytes { _ = unsafe SHA256_Update(&state, $0.baseAddress, $0.count) }
    }

    public mutating func update(_ byte: UInt8) {
        unsafe withUnsafeBytes(of: byte) { _ = unsafe SHA256_Update(&state, $0.baseAddress, 1) }
    }

    /// The hash of a byte and the 64 bytes of the words in memory, if there was no other input.
    public mutating func hash(_ prefix: UInt8, _ words: InlineArray<8, UInt64>) -> SHA256Digest {
        unsafe withUnsafeTemporaryAllocation(byteCount: 128, alignment: 8) { room in
            unsafe room.storeBytes(of: prefix, as: UInt8.self)
            for place in 0..<8 { unsafe room.storeBytes(of: words[place], toByteOffset: 1 + 8 * place, as: UInt64.self) }
            return unsafe padAndHash(room, 65)
        }
    }

    /// The hash of two pieces, if there was no other input.
    public mutating func hash(_ first: RawSpan, _ second: RawSpan) -> SHA256Digest {
        let count = first.byteCount + second.byteCount
        guard count <= 1024 - Self.leastPadding else {
            update(first)
            update(second)
            return finish()
        }
        return unsafe withUnsafeTemporaryAllocation(byteCount: 1024, alignment: 8) { room in
            unsafe Self.copy(first, to: room, at: 0)
            unsafe Self.copy(second, to: room, at: first.byteCount)
            return unsafe padAndHash(room, count)
        }
    }

    /// A byte of padding, and the length.
    private static let leastPadding = 9

    /// The hash of the first `count` bytes, which are followed by space for the padding (FIPS 180-4, section 5.1.1). A message that is passed to
    /// libcrypto in whole blocks costs 15 to 20 % less than one that it has to pad itself.
    @unsafe @inline(__always)
    private mutating func padAndHash(_ room: UnsafeMutableRawBufferPointer, _ count: Int) -> SHA256Digest {
        let end = (count + Self.leastPadding + 63) & ~63
        guard let start = room.baseAddress, end <= room.count else { return SHA256Digest() }
        unsafe (start + count).initializeMemory(as: UInt8.self, repeating: 0, count: end - count)
        unsafe start.storeBytes(of: 0x80, toByteOffset: count, as: UInt8.self)
        unsafe start.storeBytes(of: UInt64(8 * count).bigEndian, toByteOffset: end - 8, as: UInt64.self)
        _ = unsafe SHA256_Update(&state, start, end)
        let words = state.h
        self.start()
        return SHA256Digest(words)
    }

    @unsafe @inline(__always)
    private static func copy(_ piece: RawSpan, to room: UnsafeMutableRawBufferPointer, at offset: Int) {
        unsafe piece.withUnsafeBytes { piece in
            guard let source = piece.baseAddress, let target = room.baseAddress else { return }
            unsafe (target + offset).copyMemory(from: source, byteCount: piece.count)
        }
    }

    /// The hash of all input since the start; afterwards it is ready for new input.
    public mutating func finish() -> SHA256Digest {
        var digest = SHA256Digest()
        unsafe digest.withWords { _ = unsafe SHA256_Final($0, &state) }
        start()
        return digest
    }
}
