import MeshCrypto
import ProtobufWire

/// How far a file has been imported, and how it is recognised: stored with the events, in the same transaction.
///
/// A file is recognised by the hash of its first 64 KiB (or of the whole file, when it was shorter) and by its last bytes before the offset.
/// So it may be renamed, moved or grow, and another file with the same beginning is not mistaken for it.
struct FileMark: Equatable, Sendable {
    static let headSize = 65_536
    static let tailSize = 4_096

    /// How many bytes the hash of the head covers.
    var headLength: Int
    var headHash: [UInt8]
    /// The first byte not imported.
    var offset: Int
    /// Hash of the up to 4 KiB before `offset`.
    var tailHash: [UInt8]
    /// Lines or frames before `offset`.
    var recordCount: Int
    /// The file's source, which it keeps when it is renamed.
    var sourceName: String

    private static let version: UInt8 = 1

    var bytes: [UInt8] {
        var bytes: [UInt8] = [Self.version]
        for number in [headLength, offset, recordCount] {
            bytes.append(contentsOf: (0..<8).map { UInt8(truncatingIfNeeded: UInt64(number) >> (8 * $0)) })
        }
        return bytes + headHash + tailHash + Array(sourceName.utf8)
    }
}

extension FileMark {
    /// Reads the result of `bytes`; nil for anything else.
    init?(_ stored: [UInt8]) {
        guard stored.count >= 25 + 64, stored[0] == Self.version else { return nil }
        func number(_ place: Int) -> Int? {
            let value = (0..<8).reduce(UInt64(0)) { $0 | UInt64(stored[place + $1]) << (8 * $1) }
            return Int(exactly: value)
        }
        guard let headLength = number(1), let offset = number(9), let recordCount = number(17), headLength <= Self.headSize
        else { return nil }
        self.headLength = headLength
        self.offset = offset
        self.recordCount = recordCount
        headHash = Array(stored[25..<57])
        tailHash = Array(stored[57..<89])
        sourceName = String(decoding: stored[89...], as: UTF8.self)
    }

    /// Whether `file`, beginning with `head`, is the one this mark was made for.
    func matches(_ file: InputFile, head: [UInt8]) throws(IngestError) -> Bool {
        guard headLength <= head.count, Self.hash(head, headLength) == headHash, offset <= file.size ?? 0 else { return false }
        return try Self.tail(of: file, before: offset) == tailHash
    }

    static func tail(of file: InputFile, before offset: Int) throws(IngestError) -> [UInt8] {
        let length = min(offset, tailSize)
        return SHA256.hash(try file.bytes(length, at: offset - length))
    }

    static func hash(_ head: [UInt8], _ length: Int) -> [UInt8] {
        SHA256.hash(Array(head.prefix(length)))
    }
}
