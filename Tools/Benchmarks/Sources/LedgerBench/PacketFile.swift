import Foundation

/// The input of every work: ServiceEnvelopes, each behind its length as a little-endian u32, read whole into memory.
struct PacketFile {
    var bytes: [UInt8]
    /// The ranges of the envelopes in the bytes.
    var ranges: [Range<Int>] = []

    /// Each in a separate array.
    var envelopes: [[UInt8]] { ranges.map { Array(bytes[$0]) } }

    init(_ path: String, limit: Int = .max) throws {
        bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        var offset = 0
        while offset + 4 <= bytes.count, ranges.count < limit {
            let length = (0..<4).reduce(0) { [bytes] in $0 | Int(bytes[offset + $1]) << (8 * $1) }
            guard offset + 4 + length <= bytes.count else { throw BenchError("\(path) is cut short at byte \(offset)") }
            ranges.append(offset + 4..<offset + 4 + length)
            offset += 4 + length
        }
    }
}

struct BenchError: Error, CustomStringConvertible {
    var description: String
    init(_ description: String) { self.description = description }
}
