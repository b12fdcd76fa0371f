/// A word of a query, and the spellings that match it.
struct WordSpelling {
    let word: [UInt8]
    private let letters: [Unicode.Scalar]
    /// How many letters may differ.
    private let most: Int

    init(_ word: [UInt8], isFuzzy: Bool) {
        self.word = word
        letters = Self.letters(word)
        most = !isFuzzy || letters.count < 4 ? 0 : letters.count < 8 ? 1 : 2
    }

    private static func letters(_ word: [UInt8]) -> [Unicode.Scalar] {
        Array(String(decoding: word, as: UTF8.self).unicodeScalars)
    }

    var isExactOnly: Bool { most == 0 }

    /// The weight of another word as a spelling of this one; nil if it is not one.
    func share(of other: [UInt8]) -> Double? {
        if other == word { return 1 }
        guard most > 0, abs(other.count - word.count) <= 4 * most else { return nil }
        let others = Self.letters(other)
        guard abs(others.count - letters.count) <= most else { return nil }
        return distance(to: others) <= most ? TextRanking.inexact : nil
    }

    /// The number of letters to add, omit, replace or swap with their neighbours (optimal string alignment).
    private func distance(to other: [Unicode.Scalar]) -> Int {
        var (before, last, row) = ([Int](), Array(0...other.count), [Int]())
        for (place, letter) in letters.enumerated() {
            row = [place + 1]
            for (column, otherLetter) in other.enumerated() {
                var least = min(row[column] + 1, last[column + 1] + 1, last[column] + (letter == otherLetter ? 0 : 1))
                if place > 0, column > 0, letter == other[column - 1], letters[place - 1] == otherLetter {
                    least = min(least, before[column - 1] + 1)
                }
                row.append(least)
            }
            (before, last) = (last, row)
        }
        return last[other.count]
    }
}
