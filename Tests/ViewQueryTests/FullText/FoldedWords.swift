import TestKit
import Testing

@testable import ViewQuery

@Suite struct FoldedWords {
    private static func known(_ text: String) -> [String] {
        var words: [String] = []
        WordFold.words(of: text) { words.append(String(decoding: $0, as: UTF8.self)) }
        return words
    }

    private static func decomposed(_ text: String) -> [String] {
        var words: [String] = []
        WordFold.words(decomposing: text) { words.append(String(decoding: $0, as: UTF8.self)) }
        return words
    }

    @Test func `G11: each character of Latin, Greek and Cyrillic and each emoji gives the words that its decomposition gives`() {
        let scalars = (Array(0x21...0x52F) + Array(0x1F2F0...0x1FB10)).compactMap { Unicode.Scalar(UInt32($0)) }
        for scalar in scalars {
            let text = "a\(Character(scalar))b \(Character(scalar))'\(Character(scalar)) Z"
            #expect(Self.known(text) == Self.decomposed(text), "\(scalar.value)")
        }
    }

    @Test(arguments: 1...8) func `G11: texts of any characters give the words that their decomposition gives`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let ranges: [ClosedRange<UInt32>] = [
            0x20...0x7E, 0x61...0x7A, 0xC0...0x17F, 0x300...0x36F, 0x370...0x52F, 0x483...0x489, 0x1F300...0x1FAFF,
            0x3040...0x30FF,
            0x590...0x5C7, 0xFE00...0xFE0F, 0x4E00...0x4E20,
        ]
        for _ in 0..<2_000 {
            // Mostly of few kinds, so that whole texts are known as well.
            let kinds = (0..<Int.random(in: 1...3, using: &random)).map { _ in
                ranges[Int.random(in: 0..<ranges.count, using: &random)]
            }
            var text = String.UnicodeScalarView()
            for _ in 0..<Int.random(in: 0...24, using: &random) {
                let kind = kinds[Int.random(in: 0..<kinds.count, using: &random)]
                if let scalar = Unicode.Scalar(UInt32.random(in: kind, using: &random)) { text.append(scalar) }
            }
            #expect(Self.known(String(text)) == Self.decomposed(String(text)), "\(text.map(\.value))")
        }
    }
}
