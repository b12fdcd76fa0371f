internal import Foundation
internal import MeshCrypto

/// What a log commits to: how many events it had, and the root of the tree over them (C2SP tlog-checkpoint).
public struct LogCheckpoint: Sendable, Hashable {
    /// `meshledger/` and the log's identifier, unless another name was chosen.
    public let origin: String
    public let size: UInt64
    /// 32 bytes.
    public let root: [UInt8]
    /// The number of the log's sources, and the hash of their numbers and names; nil in notes without them.
    public let sources: SourcesHash?
    /// The hash of the origins of these events; nil in notes without it.
    public let originsHash: [UInt8]?

    public struct SourcesHash: Sendable, Hashable {
        public let count: Int
        public let hash: [UInt8]
    }

    static func origin(identifier: String) -> String { "meshledger/\(identifier)" }

    /// The text that is signed.
    var text: String {
        var lines = [origin, String(size), Data(root).base64EncodedString()]
        if let sources { lines.append("sources \(sources.count) \(Data(sources.hash).base64EncodedString())") }
        if let originsHash { lines.append("origins \(Data(originsHash).base64EncodedString())") }
        return lines.map { $0 + "\n" }.joined()
    }

    /// - Parameter sources: nil for a note with only what C2SP requires.
    init(origin: String, size: UInt64, root: [UInt8], sources: [EventSource]?, originsHash: [UInt8]? = nil) {
        self.origin = origin
        self.size = size
        self.root = root
        self.sources = sources.map { SourcesHash(count: $0.count, hash: Self.hash($0[...])) }
        self.originsHash = originsHash
    }

    /// Whether a log may have this name in its notes.
    public static func isOrigin(_ text: String) -> Bool {
        !text.isEmpty
            && text.unicodeScalars.allSatisfy { $0 != "+" && !$0.properties.isWhitespace && $0.value > 0x20 && $0.value != 0x7f }
    }

    /// Parses a note's text. Nil if it is not a checkpoint of a ledger, or not spelled as it was signed.
    public init?(_ note: SignedNote) {
        let lines = note.text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
        guard lines.count >= 3, let size = UInt64(lines[1]), Self.isOrigin(String(lines[0])),
            let root = Self.hash(lines[2])
        else { return nil }
        var sources: SourcesHash?
        if lines.count > 3 {
            let words = lines[3].split(separator: " ", omittingEmptySubsequences: false)
            guard words.count == 3, words[0] == "sources", let count = Int(words[1]), count >= 0, let hash = Self.hash(words[2])
            else {
                return nil
            }
            sources = SourcesHash(count: count, hash: hash)
        }
        var originsHash: [UInt8]?
        if lines.count > 4 {
            guard lines[4].hasPrefix("origins "), let hash = Self.hash(lines[4].dropFirst(8)) else { return nil }
            originsHash = hash
        }
        origin = String(lines[0])
        (self.size, self.root, self.sources, self.originsHash) = (size, root, sources, originsHash)
        guard Array(text.utf8) == Array(note.text.utf8) else { return nil }
    }

    private static func hash(_ text: Substring) -> [UInt8]? {
        Data(base64Encoded: String(text)).flatMap { $0.count == SHA256Digest.size ? Array($0) : nil }
    }

    /// The hash over the numbers and names of sources, which are in the order of their numbers.
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
