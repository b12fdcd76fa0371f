import MeshCrypto
import TestKit

extension ForgedLog {
    /// Changes where copied events come from.
    ///
    /// - Parameter size: how many events the checkpoint covers.
    /// - Returns: false where it changed nothing of these.
    mutating func changeOrigin(size: Int, _ generator: inout SeededGenerator) -> Bool {
        let own = Self.bytes(ofHexadecimal: identifier)
        let candidates = origins.indices.filter { row in
            let first = origins[row].key.reduce(0) { $0 << 8 | Int($1) }
            return first <= size && Array(origins[row].value[10..<26]) != own
        }
        guard let row = candidates.randomElement(using: &generator) else { return false }
        switch Int.random(in: 0..<3, using: &generator) {
        case 0: origins.remove(at: row)
        case 1: setOrigin(row) { $0[Int.random(in: 2..<18, using: &generator)] ^= 1 }
        default:
            setOrigin(row) { body in
                // Behind the logs' identifiers: tag, length, then of the first run the log's number and its first sequence there.
                var place = body.startIndex
                while body[place] == 0x0a { place += 18 }
                place += 1
                while body[place] >= 128 { place += 1 }
                body[place + 2] ^= 2
            }
        }
        return true
    }

    /// Says of an event that it is a copy.
    ///
    /// - Returns: false where the ledger has copies.
    mutating func inventOrigin(of place: Int, _ generator: inout SeededGenerator) -> Bool {
        guard origins.isEmpty else { return false }
        origins.append(Row(key: Self.bigEndian(UInt64(place + 1)), value: [UInt8](repeating: 0, count: 8)))
        setOrigin(0) { $0 = [0x0a, 16] + generator.bytes(16) + [0x12, 3, 0, 10, 1] }
        return true
    }

    private mutating func setOrigin(_ row: Int, _ change: (inout [UInt8]) -> Void) {
        var body = Array(origins[row].value.dropFirst(8))
        change(&body)
        let first = origins[row].key.reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
        origins[row].value = Self.littleEndian(XXH3.hash(body, seed: first), 8) + body
    }

    private static func bytes(ofHexadecimal text: String) -> [UInt8] {
        let digits = text.compactMap { $0.hexDigitValue }
        return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }
}
