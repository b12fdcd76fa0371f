import Foundation
import TestKit
import Testing

@testable import EventLog

/// Notes and their keys, as C2SP signed-note describes them.
@Suite struct SignedNotes {
    /// The example in the documentation of Go's package `note`.
    private static let key = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"
    private static let text =
        "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n"
    private static let signature =
        "x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM="

    @Test func `keys and a note that another program made are read, and its signature is valid`() throws {
        // The second is the key of Go's checksum database.
        for key in [Self.key, "sum.golang.org+033de0ae+Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8"] {
            #expect(NoteVerifier(key)?.description == key)
        }
        let note = try #require(SignedNote("\(Self.text)\n— PeterNeumann \(Self.signature)\n"))
        #expect(note.text == Self.text && note.signatures.map(\.name) == ["PeterNeumann"])
        #expect(note.isSigned(by: try #require(NoteVerifier(Self.key))))
    }

    @Test func `a signature counts only with the name and the hash of its key, and beside others`() throws {
        let verifier = try #require(NoteVerifier(Self.key))
        let bytes = Array(try #require(Data(base64Encoded: Self.signature)))
        func isSigned(_ signatures: [(name: String, bytes: [UInt8])]) -> Bool {
            SignedNote(text: Self.text, signatures: signatures.map { .init(name: $0.name, bytes: $0.bytes) })
                .isSigned(by: verifier)
        }
        let valid = (name: verifier.name, bytes: bytes)
        #expect(isSigned([valid]) && isSigned([("other", bytes), valid]) && isSigned([valid, ("other", bytes)]))
        #expect(!isSigned([]) && !isSigned([("other", bytes)]))
        for place in bytes.indices {
            var changed = bytes
            changed[place] ^= 1
            #expect(!isSigned([(verifier.name, changed)]), "byte \(place)")
        }
        #expect(!isSigned([(verifier.name, bytes.dropLast())]) && !isSigned([(verifier.name, bytes + [0])]))
    }

    @Test func `a note has signatures, each of a name and of more bytes than the hash of its key`() {
        func signatures(_ lines: String) -> Int? { SignedNote("text\n\n\(lines)")?.signatures.count }
        #expect(signatures("") == nil && SignedNote("text\n") == nil)
        #expect(signatures("— a AAAAAAA=\n") == 1 && signatures("— a AAAAAAA=\n— b AAAAAAA=\n") == 2, "five bytes")
        #expect(signatures("— a AAAAAA==\n") == nil, "four bytes")
        for line in ["—  AAAAAAA=", "— a", "— a b AAAAAAA=", "- a AAAAAAA=", "a b AAAAAAA=", "—a AAAAAAA="] {
            #expect(signatures(line + "\n") == nil, "\(line)")
        }
    }

    @Test func `a note has no control characters but line feeds`() {
        for scalar in ["\u{0}", "\u{9}", "\u{d}", "\u{1f}", "\u{7f}"] {
            #expect(SignedNote("a\(scalar)b\n\n— a AAAAAAA=\n") == nil, "\(scalar.unicodeScalars)")
        }
        for scalar in ["\n", "\u{20}", "\u{7e}", "\u{80}", "é"] {
            #expect(SignedNote("a\(scalar)b\n\n— a AAAAAAA=\n")?.text == "a\(scalar)b\n", "\(scalar.unicodeScalars)")
        }
    }

    @Test func `a key has a name without spaces, and 32 bytes`() throws {
        let bytes = [UInt8](repeating: 9, count: 32)
        func isRead(_ name: String, _ bytes: [UInt8]) -> Bool {
            NoteVerifier(NoteVerifier(name: name, publicKey: bytes).description) != nil
        }
        #expect(isRead("a", bytes))
        #expect(!isRead("", bytes) && !isRead("a b", bytes) && !isRead("a\u{a0}b", bytes) && !isRead("a+b", bytes))
        #expect(!isRead("a", bytes.dropLast()) && !isRead("a", bytes + [9]))
        let verifier = try #require(NoteVerifier(Self.key))
        let other = Data([2] + verifier.publicKey).base64EncodedString()
        #expect(NoteVerifier("PeterNeumann+c74f20a3+\(other)") == nil, "another algorithm")
        for count in [0, 31, 33, 64] {
            #expect(NoteSigner(name: "a", seed: [UInt8](repeating: 9, count: count)) == nil, "\(count)")
        }
        let signer = try #require(NoteSigner(name: "a", seed: bytes))
        #expect(try signer.sign("text\n").isSigned(by: signer.verifier))
    }
}
