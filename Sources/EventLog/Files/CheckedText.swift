internal import LMDB
internal import MeshCrypto
internal import ProtobufWire

/// Small text files of a ledger that decide what is kept, with a last line `checksum` and the first 16 digits of the SHA-256 of the lines before: it
/// detects flipped bits. Files that were written by hand or by an earlier version need not have it.
package enum CheckedText {
    private static let digits = 16
    /// In bytes, far more than any of these files needs.
    static let largest = 1 << 16

    /// The same of a file that is never empty and whose last line ends: one that does not is cut short, and a number in it smaller than it was.
    package static func readWhole(_ path: String) throws(EventLogError) -> String? {
        let text = try read(path)
        if let text, text.utf8.last != UInt8(ascii: "\n") {
            throw EventLogError(.corrupt, path: path, detail: text.isEmpty ? "it is empty" : "its last line has no end")
        }
        return text
    }

    /// The text without its checksum; nil if the file does not exist.
    /// - Throws: `.corrupt` if the checksum does not match or the file is too large, and what opening it throws.
    package static func read(_ path: String) throws(EventLogError) -> String? {
        let bytes = try SmallFile.owned { () throws(StorageError) in try OwnedFile.contents(path, limit: largest + 1) }
        guard let bytes else { return nil }
        guard bytes.count <= largest else {
            throw EventLogError(.corrupt, path: path, detail: "it has more than \(largest) bytes")
        }
        let lines = bytes.dropLast().split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        guard bytes.last == UInt8(ascii: "\n"), let last = lines.last, last.starts(with: "checksum ".utf8) else {
            return String(decoding: bytes, as: UTF8.self)
        }
        let text = String(decoding: bytes[..<last.startIndex], as: UTF8.self)
        guard last.elementsEqual(checksum(text).utf8) else {
            throw EventLogError(.corrupt, path: path, detail: "its checksum does not match")
        }
        return text
    }

    /// - Parameter text: lines, each ended with a line feed.
    package static func replace(_ path: String, with text: String) throws(EventLogError) {
        try SmallFile.replace(path, with: text + checksum(text) + "\n", mode: .likeFolder)
    }

    private static func checksum(_ text: String) -> String {
        let hash = SHA256.hash(Array(text.utf8)).prefix(digits / 2)
        return "checksum " + Hexadecimal.text(hash)
    }
}
