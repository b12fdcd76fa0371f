import MeshCrypto
import TestKit
import Testing

/// The figures are those of the reference implementation, `xxhsum -H3`.
@Suite struct ChecksumTests {
    @Test func `xxh3 of nothing is the published number`() {
        #expect(XXH3.hash([UInt8]()) == 0x2d06_8005_38d3_94c2)
    }

    @Test func `pieces give the checksum of the whole`() {
        var generator = SeededGenerator(seed: 1)
        let hasher = XXH3Hasher()
        for length in [0, 1, 3, 16, 17, 128, 129, 240, 241, 1000] {
            let bytes = generator.bytes(length)
            let cut = length / 3
            hasher.reset()
            let part = Array(bytes[..<cut])
            unsafe hasher.update(part.span.bytes)
            let rest = Array(bytes[cut...])
            unsafe hasher.update(rest.span.bytes)
            #expect(hasher.value == XXH3.hash(bytes))
        }
    }
}
