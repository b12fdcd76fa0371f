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
    /// The hash of where these events come from, nil in notes from before they said so.
    public let originsHash: [UInt8]?

    static func origin(identifier: String) -> String { "meshledger/\(identifier)" }

    /// The text that is signed.
    var text: String {
        var lines = [origin, String(size), Data(root).base64EncodedString()]
        lines.append("sources \(sourceCount) \(Data(sourcesHash).base64EncodedString())")
        if let originsHash { lines.append("origins \(Data(originsHash).base64EncodedString())") }
        return lines.map { $0 + "\n" }.joined()
    }

    init(origin: String, size: UInt64, root: [UInt8], sources: [EventSource], originsHash: [UInt8]? = nil) {
        self.origin = origin
        self.size = size
        self.root = root
        sourceCount = sources.count
        sourcesHash = Self.hash(sources[...])
        self.originsHash = originsHash
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
        let origins = lines[4...].first { $0.hasPrefix("origins ") }.map { Data(base64Encoded: String($0.dropFirst(8))) }
        guard origins.map({ $0?.count == SHA256Digest.size }) ?? true else { return nil }
        originsHash = origins?.map { Array($0) }
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
