import Foundation
import LogKit
import TestKit
import Testing

@testable import EventLog

/// Proofs that one checkpoint extends another, to someone who holds nothing but the two notes.
@Suite struct ConsistencyProofs {
    @Test func `two notes of any sizes are shown to be of one history, and no changed byte is`() async throws {
        let log = try EventLog.temporary()
        var notes: [SignedNote] = [try log.checkpoint()]
        for _ in 1...20 {
            try await appendNumbered(log, 1)
            notes.append(try log.checkpoint())
        }
        for count in [43, 192, 256, 300, 512] {
            try await appendNumbered(log, count)
            notes.append(try log.checkpoint(origin: nil, namesSources: count == 300))
        }
        let verifier = try log.verifier()
        for (place, new) in notes.enumerated() {
            for old in notes.prefix(place + 1) {
                let text = try log.consistencyProof(from: old, to: new).description
                let sizes = try #require(ConsistencyProof(text)).check(verifier)
                #expect(sizes.old.size == LogCheckpoint(old)?.size && sizes.new.size == LogCheckpoint(new)?.size)
            }
            guard place > 0 else { continue }
            let error = #expect(throws: EventLogError.self) { try log.consistencyProof(from: new, to: notes[place - 1]) }
            #expect(error?.code == .tooFewEvents)
        }
        let text = Array(try log.consistencyProof(from: notes[13], to: notes[24]).description.utf8)
        for place in text.indices {
            var changed = text
            changed[place] ^= 1
            let proof = ConsistencyProof(String(decoding: changed, as: UTF8.self))
            #expect(proof.flatMap { try? $0.check(verifier) } == nil, "changed byte \(place)")
        }
        await log.close()
    }

    @Test func `a proof stays possible when retention has dropped the events, and none is made for another history`() async throws
    {
        let log = try EventLog.temporary()
        try await appendNumbered(log, 300)
        let old = try log.checkpoint(origin: "mesh.example.org/harbour")
        try await appendNumbered(log, 900)
        try await log.cut(through: EventSequence(1024))
        let new = try log.checkpoint(origin: "mesh.example.org/harbour")
        let proof = try log.consistencyProof(from: old, to: new)
        let sizes = try proof.check(log.verifier(origin: "mesh.example.org/harbour"))
        #expect(sizes.old.size == 300 && sizes.new.origin == "mesh.example.org/harbour")
        #expect(throws: ConsistencyProof.Flaw.signature) { try proof.check(log.verifier()) }

        let other = try EventLog.temporary()
        try await appendNumbered(other, 1300)
        #expect(throws: EventLogError.self) { try other.consistencyProof(from: old, to: other.checkpoint()) }
        let mixed = ConsistencyProof(old: old, new: try log.checkpoint(), hashes: proof.hashes)
        #expect(throws: ConsistencyProof.Flaw.self) { try mixed.check(log.verifier()) }
        await log.close()
        await other.close()
    }

    @Test func `notes, keys and proofs that are written in another way than they were given out are refused`() async throws {
        let log = try EventLog.temporary()
        try await appendNumbered(log, 3)
        let verifier = try log.verifier()
        let (note, key) = (try log.checkpoint().description, verifier.description)
        let proof = try log.proof(of: EventSequence(2)).description
        #expect(SignedNote(note) != nil && NoteVerifier(key) != nil && InclusionProof(proof) != nil)
        let otherwise: [(String) -> String] = [
            { $0.replacingOccurrences(of: "\n", with: "\r\n") }, { $0 + "\n" }, { $0 + "more\n" }, { " " + $0 }, { $0 + " " },
            { $0.replacingOccurrences(of: "=\n", with: "\n") }, { $0.replacingOccurrences(of: "=\n", with: "==\n") },
            { $0.replacingOccurrences(of: " ", with: "  ") }, { $0.replacingOccurrences(of: "\n\n", with: "\n\n\n") },
            { $0.replacingOccurrences(of: "\n\n", with: "\n\u{1}\n\n") },
        ]
        for (number, change) in otherwise.enumerated() {
            #expect(SignedNote(change(note))?.isSigned(by: verifier) ?? false == false, "\(number)")
            if let other = InclusionProof(change(proof)) {
                #expect(throws: (any Error).self, "\(number)") { try other.check(verifier) }
            }
            if change(key) != key { #expect(NoteVerifier(change(key)) == nil, "\(number)") }
        }
        #expect(NoteVerifier(key.uppercased()) == nil)
        // Base64 has spare bits before its padding.
        let lines = note.split(separator: "\n", omittingEmptySubsequences: false)
        let root = String(lines[2])
        let spare = root.dropLast(2) + String(try #require(root.dropLast().last.flatMap { Self.next($0) })) + "="
        #expect(Data(base64Encoded: String(spare)) == Data(base64Encoded: root))
        let changed = note.replacingOccurrences(of: root, with: spare)
        #expect(SignedNote(changed).flatMap { LogCheckpoint($0) } == nil)
        // What a witness's signature does not say anything about.
        let text = lines.prefix(3).joined(separator: "\n") + "\nsomething else\n"
        #expect(LogCheckpoint(SignedNote(text: text, signatures: [])) == nil)
        await log.close()
    }

    /// The digit of base64 with the lowest bit changed.
    private static func next(_ digit: Character) -> Character? {
        let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
        return digits.firstIndex(of: digit).map { digits[$0 ^ 1] }
    }
}
