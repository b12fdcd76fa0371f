internal import MeshCrypto

/// What the salts of a tile's events are made from: 16 random bytes.
///
/// A salt keeps a short payload from being guessed by its hash after the payload was erased.
struct SaltSeed: Sendable {
    static let size = 16

    let bytes: [UInt8]

    static func random() -> SaltSeed {
        var generator = SystemRandomNumberGenerator()
        let words = [generator.next() as UInt64, generator.next()]
        return SaltSeed(bytes: words.flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) } })
    }
}
