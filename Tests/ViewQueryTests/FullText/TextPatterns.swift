import Foundation
import TestKit
import Testing
import ViewQuery

/// Patterns are found in texts letter by letter.
@Suite struct TextPatterns {
    private static let letters = ["a", "A", "b", "é", "e\u{301}", "e", "É", " ", "  ", "👍", "👩‍👩‍👧", "ß", "0", ".", "\n", "水"]

    private static func text(_ count: Int, _ random: inout SeededGenerator) -> String {
        (0..<count).map { _ in letters.randomElement(using: &random) ?? "a" }.joined()
    }

    /// The same by comparing character after character.
    private static func isFound(_ pattern: String, in text: String, at place: TextPattern.Place, _ options: TextPattern.Options)
        -> Bool
    {
        func form(_ text: String) -> [String] {
            text.flatMap { character -> [String] in
                var form = String(character)
                if options.contains(.ignoresDiacritics) {
                    let scalars = form.decomposedStringWithCanonicalMapping.unicodeScalars.filter { $0.value != 0x301 }
                    form = String(String.UnicodeScalarView(scalars))
                }
                return options.contains(.ignoresCase) ? form.uppercased().lowercased().map(String.init) : [form]
            }
        }
        let (wanted, all) = (form(pattern), form(text))
        guard wanted.count <= all.count else { return false }
        let places = (0...all.count - wanted.count).filter { Array(all[$0..<$0 + wanted.count]) == wanted }
        switch place {
        case .anywhere: return !places.isEmpty
        case .beginning: return places.first == 0
        case .end: return places.last == all.count - wanted.count
        case .whole: return wanted == all
        }
    }

    @Test(arguments: UInt64(1)...4)
    func `G10: a pattern of any length, spaces and emoji included, is found where a plain reading finds it`(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<1_500 {
            let text = Self.text(Int.random(in: 0..<12, using: &random), &random)
            let pattern = Self.text(Int.random(in: 0..<4, using: &random), &random)
            let options = TextPattern.Options(rawValue: Int.random(in: 0..<4, using: &random))
            for place in TextPattern.Place.allCases {
                let wanted = Self.isFound(pattern, in: text, at: place, options)
                let found = TextPattern(pattern, at: place, options).matches(text)
                #expect(
                    found == wanted, "\(pattern.debugDescription) in \(text.debugDescription), \(place), \(options), seed \(seed)"
                )
            }
        }
    }
}
