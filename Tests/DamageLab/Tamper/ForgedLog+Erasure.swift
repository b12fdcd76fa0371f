import MeshCrypto

extension ForgedLog {
    /// Takes the payloads of events away as an erasure does.
    mutating func erase(_ places: Range<Int>) {
        for place in places where records[place][Self.flags] & Self.erased == 0 {
            var written = Self.written(salts[place / 256])
            let own = 16 * (place % 256)..<16 * (place % 256) + 16
            let inner = Self.innerHash(records[place], salt: Array(written[own]))
            records[place] = records[place][..<24] + inner
            records[place][Self.flags] |= Self.erased
            written.replaceSubrange(own, with: [UInt8](repeating: 0, count: 16))
            salts[place / 256] = written
        }
    }

    /// Appends the event that says what was erased, signed by a key of the attacker's or not at all.
    mutating func appendErasure(of places: Range<Int>, origin: String, key: [UInt8]?) {
        func varint(_ number: Int) -> [UInt8] {
            number < 128 ? [UInt8(number)] : [UInt8(number & 127) | 128] + varint(number >> 7)
        }
        let ranges = varint(places.lowerBound) + varint(places.count - 1)
        var payload: [UInt8] = [0x0a, UInt8(ranges.count)] + ranges + [0x12, 2] + Array("ok".utf8)
        payload += [0x22, 32] + SHA256.hash(payload)
        if let key, let signature = try? Ed25519.sign(Array("\(origin) erasure\n".utf8) + payload, privateKey: key) {
            payload += [0x2a, 64] + signature
        }
        let arrival = Array(records[records.count - 1][..<8])
        records.append(arrival + [UInt8](repeating: 0, count: 12) + [1, 0, 3, 0] + payload)
        let sequence = Self.littleEndian(UInt64(records.count), 8)
        if let row = meta.firstIndex(where: { $0.key == Array("erasures".utf8) }) {
            meta[row].value += sequence
        } else {
            meta.append(Row(key: Array("erasures".utf8), value: sequence))
        }
    }

    var identifier: String {
        let row = meta.first { $0.key == Array("identifier".utf8) }
        return (row?.value ?? []).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
