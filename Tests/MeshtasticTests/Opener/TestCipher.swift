import MeshCrypto

/// Encrypts as a sender does, for tests.
enum TestCipher {
    static func encrypt(_ bytes: [UInt8], key: [UInt8], id: UInt32, from: UInt32) throws -> [UInt8] {
        let block = [id, 0, from, 0].flatMap { number in (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * UInt32($0))) } }
        return try AESCTR(key: key).apply(iv: block, bytes)
    }
}
