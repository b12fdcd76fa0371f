internal import Foundation
internal import MeshCrypto

/// What a log commits to: how many events it had, and the root of the tree over them (C2SP tlog-checkpoint).
public struct LogCheckpoint: Sendable, Hashable {
    /// `meshledger/` and the log's identifier.
    public let origin: String
    public let size: UInt64
    /// 32 bytes.
    public let root: [UInt8]
    /// How many sources the log had, and the hash of their numbers and names.
    public let sourceCount: Int
    public let sourcesHash: [UInt8]

    static func origin(identifier: String) -> String { "meshledger/\(identifier)" }

    /// The text that is signed.
    var text: String {
        """
        \(origin)
        \(size)
        \(Data(root).base64EncodedString())
        sources \(sourceCount) \(Data(sourcesHash).base64EncodedString())

        """
    }

    init(origin: String, size: UInt64, root: [UInt8], sources: [EventSource]) {
        self.origin = origin
        self.size = size
        self.root = root
        sourceCount = sources.count
        sourcesHash = Self.hash(sources[...])
    }

    /// Reads what a note says. Nil where it is no checkpoint of a ledger.
    public init?(_ note: SignedNote) {
        let lines = note.text.split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.count >= 5, let size = UInt64(lines[1]), String(size) == lines[1] else { return nil }
        let extra = lines[3].split(separator: " ", omittingEmptySubsequences: false)
        guard lines[0].hasPrefix("meshledger/"), let root = Data(base64Encoded: String(lines[2])),
            root.count == SHA256Digest.size,
            extra.count == 3, extra[0] == "sources", let sourceCount = Int(extra[1]), sourceCount >= 0,
            let sourcesHash = Data(base64Encoded: String(extra[2])), sourcesHash.count == SHA256Digest.size
        else { return nil }
        origin = String(lines[0])
        self.size = size
        self.root = Array(root)
        self.sourceCount = sourceCount
        self.sourcesHash = Array(sourcesHash)
    }

    /// The hash over the numbers and names of some sources, which are in the order of their numbers.
    static func hash(_ sources: ArraySlice<EventSource>) -> [UInt8] {
        var bytes: [UInt8] = []
        for source in sources {
            let name = Array(source.name.utf8)
            for number in [source.id.rawValue, UInt32(truncatingIfNeeded: name.count)] {
                for shift in stride(from: 0 as UInt32, to: 32, by: 8) { bytes.append(UInt8(truncatingIfNeeded: number >> shift)) }
            }
            bytes += name
        }
        return SHA256.hash(bytes)
    }
}
