import MeshCrypto
import TestKit
import Testing

/// Messages of up to 320 bytes take another way through libcrypto than longer ones.
@Suite struct CounterModeTests {
    @Test(arguments: [16, 32])
    func `short messages get the same stream as long ones`(keyLength: Int) throws {
        var generator = SeededGenerator(seed: UInt64(keyLength))
        for _ in 0..<50 {
            let cipher = try AESCTR(key: generator.bytes(keyLength))
            let iv = generator.bytes(12) + [0, UInt8.random(in: 0...255, using: &generator), 0, 0]
            let long = generator.bytes(400)
            let sealed = try cipher.apply(iv: iv, long)
            for length in [0, 1, 7, 8, 15, 16, 17, 31, 60, 233, 256, 319, 320, 321] {
                #expect(try cipher.apply(iv: iv, Array(long.prefix(length))) == Array(sealed.prefix(length)), "\(length) bytes")
            }
        }
    }

    @Test func `a counter that overflows carries into the block`() throws {
        let cipher = try AESCTR(key: [UInt8](repeating: 5, count: 16))
        let zeros = [UInt8](repeating: 0, count: 32)
        let overflowing = try cipher.apply(iv: [UInt8](repeating: 0, count: 12) + [255, 255, 255, 255], zeros)
        let carried = try cipher.apply(iv: [UInt8](repeating: 0, count: 11) + [1, 0, 0, 0, 0], zeros)
        #expect(overflowing.suffix(16) == carried.prefix(16))
    }
}
