package import LMDB
internal import MeshCrypto

/// The salts of a tile's events: derived from a seed, or written out after one of the events was erased.
///
/// A salt prevents an erased short payload from being guessed from its hash.
package struct TileSalts: Sendable {
    static let seedSize = 16
    package static let saltSize = 16
    package static let writtenSize = saltSize * Int(LogStore.tileSize)

    /// What is stored: the seed, or all salts.
    package let stored: [UInt8]
    /// All salts, one after the other.
    let bytes: [UInt8]

    /// Nil for bytes of another length.
    init?(stored: RawSpan) {
        self.init(stored: unsafe stored.withUnsafeBytes { unsafe [UInt8]($0) })
    }

    package init?(stored: [UInt8]) {
        self.stored = stored
        switch stored.count {
        case Self.writtenSize: bytes = stored
        case Self.seedSize:
            guard let salts = Self.salts(seed: stored) else { return nil }
            bytes = salts
        default: return nil
        }
    }

    /// The salt of the event in this place of the tile.
    package func salt(_ place: Int) -> ArraySlice<UInt8> { bytes[Self.saltSize * place..<Self.saltSize * (place + 1)] }

    private static func salts(seed: [UInt8]) -> [UInt8]? {
        guard let cipher = try? AESCTR(key: seed) else { return nil }  // only for a key of another length
        var salts = [UInt8](repeating: 0, count: writtenSize)
        // The keystream from counter 0 on is the encryption of the numbers 0, 1, 2, ...
        let isDone = unsafe salts.withUnsafeMutableBytes { room in
            unsafe cipher.apply(iv: (0, 0), input: UnsafeRawBufferPointer(room), output: room)
        }
        return isDone ? salts : nil
    }
}

extension LogStore {
    /// The salts of a tile that has events.
    package func salts(ofTile tile: UInt64, _ read: borrowing some TransactionReading & ~Copyable) throws(StorageError)
        -> TileSalts
    {
        let key = SequenceKey(tile)
        guard let stored = try read.get(salts, key.span), let tileSalts = TileSalts(stored: stored) else {
            throw .malformed(TileSalts.self)
        }
        return tileSalts
    }
}
