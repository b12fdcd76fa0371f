import Foundation
import MeshCrypto

extension ForgedLog {
    /// Takes the first events away as a retention does. What is kept lies in `events`.
    ///
    /// - Parameters:
    ///   - last: a multiple of 256.
    ///   - key: of the attacker's, with which an event is signed that tells of it; nil for no such event.
    mutating func drop(through last: Int, key: [UInt8]?) {
        dropped = last
        blocks = []
        (blockFacts, blockArrivals) = ([:], [:])
        set("cut", UInt64(last))
        set("cut.checksum", XXH3.hash(records[last - 1], seed: UInt64(last)))
        guard let key else { return }
        let times = records[..<last].map(Self.arrival)
        var payload: [UInt8] = []
        for (field, number) in [(1, last + 1), (2, last), (3, Int(times.min() ?? 0)), (4, Int(times.max() ?? 0))] {
            payload += [UInt8(field << 3)] + Self.varint(UInt64(number))
        }
        payload += [0x2a, 32] + Self.rootOfAny((0..<last / 256).map { tileHash($0) })
        let text = "meshledger/\(identifier)\nretention\n\(Data(payload).base64EncodedString())\n"
        if let signature = try? Ed25519.sign(Array(text.utf8), privateKey: key) { payload += [0x3a, 68, 0, 0, 0, 0] + signature }
        let arrival = Array(records[records.count - 1][..<8])
        records.append(arrival + [UInt8](repeating: 0, count: 12) + [1, 0, 4, 0] + payload)
        set("cut.event", UInt64(records.count))
    }

    private mutating func set(_ key: String, _ number: UInt64) {
        meta.removeAll { $0.key == Array(key.utf8) }
        meta.append(Row(key: Array(key.utf8), value: Self.littleEndian(number, 8)))
        meta.sort { $0.key.lexicographicallyPrecedes($1.key) }
    }

    private static func varint(_ number: UInt64) -> [UInt8] {
        number < 128 ? [UInt8(number)] : [UInt8(number & 127) | 128] + varint(number >> 7)
    }

    /// Of any number of leaves, as RFC 6962 has it.
    static func rootOfAny(_ leaves: [[UInt8]]) -> [UInt8] {
        guard leaves.count > 1 else { return leaves.first ?? SHA256.hash([]) + [] }
        var half = 1
        while 2 * half < leaves.count { half *= 2 }
        return SHA256.hash([1] + rootOfAny(Array(leaves[..<half])) + rootOfAny(Array(leaves[half...])))
    }
}
