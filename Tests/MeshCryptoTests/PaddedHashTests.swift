import MeshCrypto
import TestKit
import Testing

struct PaddedHashTests {
    @Test func `a byte and eight words hash as the bytes that they are in memory`() {
        var generator = SeededGenerator(seed: 13)
        var context = SHA256Context()
        for prefix in 0...255 as ClosedRange<UInt8> {
            let words = InlineArray<8, UInt64> { _ in generator.next() }
            let digest = context.hash(prefix, words)
            let bytes = words.indices.flatMap { place in (0..<8).map { UInt8(truncatingIfNeeded: words[place] >> (8 * $0)) } }
            #expect(digest.bytes == SHA256.hash([prefix] + bytes))
        }
    }

    @Test func `messages of every length hash alike, in pieces that are padded at once or by libcrypto`() throws {
        var generator = SeededGenerator(seed: 12)
        let bytes = generator.bytes(1200)
        var context = SHA256Context()
        for length in 0...1200 {
            let split = Int.random(in: 0...length, using: &generator)
            let message = unsafe bytes.span.bytes.extracting(first: length)
            context.update(message)
            let expected = context.finish().bytes
            let joined = context.hash(message.extracting(first: split), message.extracting(droppingFirst: split)).bytes
            #expect(joined == expected, "\(length) bytes")
        }
    }
}
