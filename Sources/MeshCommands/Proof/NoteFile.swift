import EventLog

/// Reads notes and keys from files.
enum NoteFile {
    private static let longest = 1 << 20

    static func text(_ path: String) throws -> String {
        let bytes = try NamedFile.read(path, upTo: longest + 1)
        guard bytes.count <= longest else {
            throw CommandError(.badData, "\(path) is no note: it has more than \(longest) bytes")
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw CommandError(.badData, "\(path) is not in UTF-8")
        }
        return text
    }

    /// - Parameter key: the key itself, or a file that holds it.
    static func verifier(_ key: String) throws -> NoteVerifier {
        if let verifier = NoteVerifier(key) { return verifier }
        let text = try text(key)
        guard let verifier = NoteVerifier(text.last == "\n" ? String(text.dropLast()) : text) else {
            throw CommandError(.badData, "\(key) is not a public key; `meshledger checkpoint --public-key` prints one")
        }
        return verifier
    }

    static func note(_ path: String) throws -> SignedNote {
        guard let note = SignedNote(try text(path)) else {
            throw CommandError(.badData, "\(path) is not a signed note; `meshledger checkpoint` makes one")
        }
        return note
    }
}
