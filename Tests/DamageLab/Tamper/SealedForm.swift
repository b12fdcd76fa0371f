import CZstd
import MeshCrypto

/// A sealed block as `FORMAT.md` describes it, taken apart and put together again.
struct SealedForm {
    /// Each from its byte 8 on.
    let records: [[UInt8]]
    let facts: [UInt8]

    init(records: [[UInt8]], facts: [UInt8]) {
        self.records = records
        self.facts = facts
    }

    init(_ value: [UInt8]) throws {
        func number(_ bytes: some Collection<UInt8>) -> UInt64 { bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) } }
        let count = Int(number(value[12..<16]))
        let contentLength = Int(number(value[40..<44]))
        facts = Array(value[56..<56 + Int(number(value[44..<48]))])
        let frame = value.dropFirst(56 + facts.count)
        var content = [UInt8](repeating: 0, count: contentLength)
        let length = unsafe content.withUnsafeMutableBytes { room in
            unsafe frame.withUnsafeBytes { unsafe ZSTD_decompress(room.baseAddress, room.count, $0.baseAddress, $0.count) }
        }
        guard length == contentLength else { throw Failure("a block cannot be decompressed") }
        var records: [[UInt8]] = []
        var (arrival, reception, payload) = (UInt64(0), UInt64(0), 28 * count)
        for record in 0..<count {
            let fixed = (0..<28).map { content[$0 * count + record] }
            arrival &+= number(fixed[0..<8])
            reception &+= number(fixed[8..<16])
            let size = Int(number(fixed[24..<28]))
            records.append(
                ForgedLog.littleEndian(arrival, 8) + ForgedLog.littleEndian(reception, 8) + fixed[16..<24]
                    + content[payload..<payload + size])
            payload += size
        }
        self.records = records
    }

    /// - Parameter arrivals: stated in place of the right ones.
    func value(first: UInt64, arrivals stated: (Int64, Int64)?) -> [UInt8] {
        let count = records.count
        var content = [UInt8](repeating: 0, count: 28 * count)
        var before: (arrival: UInt64, reception: UInt64) = (0, 0)
        for (place, record) in records.enumerated() {
            let arrival = UInt64(bitPattern: ForgedLog.arrival(record))
            let reception = UInt64(bitPattern: ForgedLog.arrival(Array(record[8..<16])))
            let fixed =
                ForgedLog.littleEndian(arrival &- before.arrival, 8) + ForgedLog.littleEndian(reception &- before.reception, 8)
                + record[16..<24] + ForgedLog.littleEndian(UInt64(record.count - 24), 4)
            for column in 0..<28 { content[column * count + place] = fixed[column] }
            before = (arrival, reception)
        }
        for record in records { content += record[24...] }
        let times = records.map(ForgedLog.arrival)
        let range = stated ?? (times.min() ?? 0, times.max() ?? 0)
        var header: [UInt8] = [0x4d, 0x42, 0x4c, 0x01]
        for (number, size) in [
            (UInt64(count), 4), (first, 8), (UInt64(bitPattern: range.0), 8), (UInt64(bitPattern: range.1), 8),
            (UInt64(content.count), 4), (UInt64(facts.count), 4),
        ] { header += ForgedLog.littleEndian(number, size) }
        let rest = header + ForgedLog.littleEndian(XXH3.hash(header + facts, seed: first), 8) + facts + Self.compress(content)
        return ForgedLog.littleEndian(XXH3.hash(rest, seed: first), 8) + rest
    }

    private static func compress(_ content: [UInt8]) -> [UInt8] {
        var frame = [UInt8](repeating: 0, count: ZSTD_compressBound(content.count))
        let length = unsafe frame.withUnsafeMutableBytes { room in
            unsafe content.withUnsafeBytes { unsafe ZSTD_compress(room.baseAddress, room.count, $0.baseAddress, $0.count, 1) }
        }
        return Array(frame.prefix(length))
    }
}
