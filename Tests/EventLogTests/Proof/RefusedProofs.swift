import Foundation
import MeshCrypto
import TestKit
import Testing

@testable import EventLog

/// Paths and proofs of small trees as the RFC makes them, and everything beside them, which is refused.
struct RefusedProofs {
    private let leaves: [[UInt8]]
    private let other: [UInt8]

    init() {
        var generator = SeededGenerator(seed: 9_162)
        leaves = (0..<20).map { _ in generator.bytes(32) }
        other = generator.bytes(32)
    }

    private func digests(_ hashes: [[UInt8]]) -> [SHA256Digest] {
        hashes.compactMap { unsafe SHA256Digest($0.span.bytes) }
    }

    /// The same hashes without one, with one more, with another one, and with two exchanged.
    private func changed(_ hashes: [[UInt8]]) -> [[[UInt8]]] {
        var all = [hashes + [other], [other] + hashes]
        for place in hashes.indices {
            all.append(Array(hashes[..<place] + hashes[(place + 1)...]))
            all.append(Array(hashes[..<place] + [other] + hashes[(place + 1)...]))
            if place > 0 {
                all.append(Array(hashes[..<(place - 1)] + [hashes[place], hashes[place - 1]] + hashes[(place + 1)...]))
            }
        }
        return all
    }

    @Test func `a path leads to the root from its place only, and by all of its hashes`() throws {
        let digests = digests(leaves)
        for size in 0...20 {
            let root = PlainTree.root(leaves[..<size])
            func found(_ place: Int, _ hashes: [[UInt8]], from leaf: Int) -> [UInt8]? {
                InclusionPath(place: UInt64(place), size: UInt64(size), hashes: self.digests(hashes)).root(leaf: digests[leaf])?
                    .bytes
            }
            for place in 0..<size {
                let path = PlainTree.path(place, leaves[..<size])
                #expect(found(place, path, from: place) == root, "place \(place) of \(size)")
                for hashes in changed(path) {
                    let end = found(place, hashes, from: place)
                    #expect(end != root && (hashes.count == path.count || end == nil), "place \(place) of \(size)")
                }
                for beyond in [size, size + 1] { #expect(found(beyond, path, from: place) == nil, "place \(place) of \(size)") }
            }
            #expect(found(size, [], from: 0) == nil)
        }
    }

    private let signer = NoteSigner(name: "meshledger/test", seed: [UInt8](repeating: 9, count: 32))

    /// What is wrong with a proof between notes of so many events with these roots; nil if nothing is.
    private func flaw(
        _ sizes: (old: Int, new: Int), _ roots: (old: [UInt8], new: [UInt8]), _ hashes: [[UInt8]]
    ) throws -> ConsistencyProof.Flaw? {
        let signer = try #require(signer)
        func note(_ size: Int, _ root: [UInt8]) throws -> SignedNote {
            try signer.sign(LogCheckpoint(origin: signer.verifier.name, size: UInt64(size), root: root, sources: nil).text)
        }
        let proof = ConsistencyProof(
            old: try note(sizes.old, roots.old), new: try note(sizes.new, roots.new), hashes: digests(hashes))
        do throws(ConsistencyProof.Flaw) {
            let found = try proof.check(signer.verifier)
            #expect(found.old.size == UInt64(sizes.old) && found.new.size == UInt64(sizes.new))
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: 0...14) func `a proof connects two roots by all of its hashes, and no others`(new: Int) throws {
        for old in 0...new {
            let roots = (old: PlainTree.root(leaves[..<old]), new: PlainTree.root(leaves[..<new]))
            let proof = old == 0 ? [] : PlainTree.proof(old, leaves[..<new])
            #expect(try flaw((old, new), roots, proof) == nil, "\(old) to \(new)")
            for hashes in changed(proof) { #expect(try flaw((old, new), roots, hashes) == .path, "\(old) to \(new)") }
            #expect(try flaw((old, new), (other, roots.new), proof) == .path, "\(old) to \(new)")
            // An empty log is the beginning of every other one.
            #expect(try flaw((old, new), (roots.old, other), proof) == (old == 0 ? nil : .path), "\(old) to \(new)")
            if old < new { #expect(try flaw((new, old), (roots.new, roots.old), proof) == .path, "\(new) to \(old)") }
        }
    }

    @Test func `a proof is of at most 128 hashes, and a path of at most 64`() throws {
        let note = try #require(try signer?.sign(LogCheckpoint(origin: "a", size: 1, root: other, sources: nil).text))
        func consistency(_ count: Int) -> ConsistencyProof? {
            let hashes = digests(Array(repeating: other, count: count))
            return ConsistencyProof(ConsistencyProof(old: note, new: note, hashes: hashes).description)
        }
        for count in [0, 1, 127, 128] { #expect(consistency(count)?.hashes.count == count) }
        #expect(consistency(129) == nil)
        func inclusion(_ count: Int) -> InclusionProof? {
            let hashes = digests(Array(repeating: other, count: count))
            return read(InclusionProof(place: 0, leafData: other + other, salt: nil, payload: [], hashes: hashes, note: note))
        }
        for count in [0, 1, 63, 64] { #expect(inclusion(count)?.hashes.count == count) }
        #expect(inclusion(65) == nil)
    }

    private func read(_ proof: InclusionProof) -> InclusionProof? { InclusionProof(proof.description) }

    @Test func `an inclusion proof has the leaf, then nothing, or a salt and the payload`() throws {
        let note = try #require(try signer?.sign(LogCheckpoint(origin: "a", size: 1, root: other, sources: nil).text))
        let extra = Array(leaves.joined())
        func parts(_ count: Int) -> (leaf: Int, salt: Int?, payload: Int)? {
            // All of it is written as the leaf, which only shifts where a reader divides it.
            read(InclusionProof(place: 7, leafData: Array(extra.prefix(count)), salt: nil, payload: [], hashes: [], note: note))
                .map { ($0.leafData.count, $0.salt?.count, $0.payload.count) }
        }
        for (count, expected) in [
            (0, nil), (63, nil), (64, (64, nil, 0)), (65, nil), (79, nil), (80, (64, 16, 0)), (81, (64, 16, 1)),
            (96, (64, 16, 16)),
        ] as [(Int, (Int, Int?, Int)?)] {
            let found = parts(count)
            #expect(found?.leaf == expected?.0 && found?.salt == expected?.1 && found?.payload == expected?.2, "\(count) bytes")
        }
        let whole = try #require(
            read(InclusionProof(place: 7, leafData: Array(extra.prefix(90)), salt: nil, payload: [], hashes: [], note: note)))
        #expect(whole.place == 7 && whole.leafData + (whole.salt ?? []) + whole.payload == Array(extra.prefix(90)))
    }

    @Test func `a checkpoint has an origin, a size and a root, then sources and origins or not, and nothing else`() {
        let (root, short) = (Data(other).base64EncodedString(), Data(other.dropLast()).base64EncodedString())
        func size(_ lines: String...) -> UInt64? {
            LogCheckpoint(SignedNote(text: lines.map { $0 + "\n" }.joined(), signatures: []))?.size
        }
        #expect(size("a", "7", root) == 7 && size("a", "0", root) == 0 && size("a", "18446744073709551615", root) == .max)
        #expect(size("a", "7", root, "sources 0 \(root)") == 7)
        #expect(size("a", "7", root, "sources 3 \(root)", "origins \(root)") == 7)
        for lines in [
            [], ["a"], ["a", "7"], ["", "7", root], ["a", "-7", root], ["a", "07", root], ["a", "7", short],
            ["a", "7", root, ""],
            ["a", "7", root, "sources -1 \(root)"], ["a", "7", root, "sources 1 \(short)"], ["a", "7", root, "sources 1"],
            ["a", "7", root, "sources 1 \(root) 1"], ["a", "7", root, "source 1 \(root)"], ["a", "7", root, "origins \(root)"],
            ["a", "7", root, "sources 1 \(root)", "origins \(short)"], ["a", "7", root, "sources 1 \(root)", "origin \(root)"],
            ["a", "7", root, "sources 1 \(root)", "origins \(root)", "more"],
        ] as [[String]] {
            let text = lines.map { $0 + "\n" }.joined()
            #expect(LogCheckpoint(SignedNote(text: text, signatures: [])) == nil, "\(lines)")
        }
        #expect(LogCheckpoint(SignedNote(text: "a\n7\n\(root)", signatures: [])) == nil, "without the last line feed")
    }

    @Test func `the hash of sources is over their numbers and names, each number in four bytes from the lowest`() {
        let (first, second) = (SourceID(rawValue: 1), SourceID(rawValue: 0x0403_0201))
        let sources = [
            EventSource(id: first, name: "é", created: .now), EventSource(id: second, name: "radio", created: .now),
        ]
        let bytes = [1, 0, 0, 0, 2, 0, 0, 0, 0xc3, 0xa9] + [1, 2, 3, 4, 5, 0, 0, 0] + Array("radio".utf8)
        #expect(LogCheckpoint.hash(sources[...]) == SHA256.hash(bytes))
        #expect(LogCheckpoint.hash([]) == SHA256.hash([] as [UInt8]))
    }

    @Test func `an origin has no spaces, no plus and no control characters`() {
        for text in ["a", "!", "~", "meshledger/a", "é", "\u{80}"] { #expect(LogCheckpoint.isOrigin(text), "\(text)") }
        for scalar in ["", "+", " ", "\u{1f}", "\u{7f}", "\u{a0}", "\n"] {
            #expect(!LogCheckpoint.isOrigin(scalar) && (scalar.isEmpty || !LogCheckpoint.isOrigin("a\(scalar)b")), "\(scalar)")
        }
    }
}
