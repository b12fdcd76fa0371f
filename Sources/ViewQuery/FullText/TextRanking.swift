import FlatCollections
internal import Foundation
internal import LMDB
internal import Projections

/// Ranks rows by how well their texts match some words: Okapi BM25 with k1 = 1.2 and b = 0.75.
///
/// A word that n of N rows have weighs ln(1 + (N - n + 0.5) / (n + 0.5)); in a row that has it f times among l words, with a words on average, its
/// score is that times f * (k1 + 1) / (f + k1 * (1 - b + b * l / a)). Over several properties it is the sum.
struct TextRanking {
    struct Candidate: Comparable {
        var row: UInt64
        var score: Double

        /// Among equals the newer row ranks higher.
        static func < (left: Candidate, right: Candidate) -> Bool {
            left.score != right.score ? left.score < right.score : left.row < right.row
        }
    }

    /// An occurrence of a word, or one of its spellings: its weighted count, and the number of words in the text.
    struct Occurrence {
        var row: UInt64
        var times: Double
        var length: UInt32
    }

    /// The occurrences of each word in one property, in ascending order of the rows.
    struct Property {
        var lists: [[Occurrence]]
        /// The number of rows that have words, and the total number of their words.
        var rows: UInt64
        var length: UInt64
    }

    static let saturation = 1.2
    static let lengthWeight = 0.75
    /// The weight of an inexact spelling.
    static let inexact = 0.5

    /// The score of each word in each row, in ascending order of the rows; the rarest word first.
    private let words: [[Candidate]]
    private let demandsAll: Bool

    init(_ properties: [Property], demandsAll: Bool) {
        self.demandsAll = demandsAll
        let count = properties.first?.lists.count ?? 0
        words = (0..<count).map { word in
            properties.map { Self.scored($0, word) }.reduce([]) { $0.isEmpty ? $1 : Self.sum($0, $1) }
        }
        .sorted { $0.count < $1.count }
    }

    private static func scored(_ property: Property, _ word: Int) -> [Candidate] {
        let list = property.lists[word]
        let (rows, among) = (Double(property.rows), Double(list.count))
        let average = property.rows > 0 ? Double(property.length) / rows : 1
        let weight = log(1 + (max(0, rows - among) + 0.5) / (among + 0.5))
        return list.map { occurrence in
            let (times, length) = (occurrence.times, Double(occurrence.length))
            let norm = saturation * (1 - lengthWeight + lengthWeight * length / average)
            return Candidate(row: occurrence.row, score: weight * times * (saturation + 1) / (times + norm))
        }
    }

    /// Merges both lists, adding scores.
    private static func sum(_ left: [Candidate], _ right: [Candidate]) -> [Candidate] {
        var merged: [Candidate] = []
        merged.reserveCapacity(left.count + right.count)
        var place = 0
        for candidate in right {
            while place < left.count, left[place].row < candidate.row {
                merged.append(left[place])
                place += 1
            }
            var both = candidate
            if place < left.count, left[place].row == candidate.row {
                both.score += left[place].score
                place += 1
            }
            merged.append(both)
        }
        merged += left[place...]
        return merged
    }

    /// All matching rows, in ascending order of the rows.
    func candidates() -> [Candidate] {
        guard let rarest = words.first else { return [] }
        return demandsAll ? withAll(rarest) : words.reduce([]) { Self.sum($0, $1) }
    }

    private func withAll(_ rarest: [Candidate]) -> [Candidate] {
        var places = [Int](repeating: 0, count: words.count)
        var found: [Candidate] = []
        for candidate in rarest {
            var sum = candidate.score
            var hasAll = true
            for index in words.indices.dropFirst() {
                let list = words[index]
                var place = places[index]
                while place < list.count, list[place].row < candidate.row { place += 1 }
                places[index] = place
                guard place < list.count, list[place].row == candidate.row else {
                    hasAll = false
                    break
                }
                sum += list[place].score
            }
            if hasAll { found.append(Candidate(row: candidate.row, score: sum)) }
        }
        return found
    }

    /// The best of some candidates, the best first.
    static func best(_ count: Int, of candidates: [Candidate]) -> [Candidate] {
        guard count < candidates.count else { return candidates.sorted(by: >) }
        var heap = MinimumHeap<Candidate>()
        var kept = 0
        for candidate in candidates {
            if kept < count {
                heap.insert(candidate)
                kept += 1
            } else if let least = heap.smallest, least < candidate {
                _ = heap.removeSmallest()
                heap.insert(candidate)
            }
        }
        var best: [Candidate] = []
        while let least = heap.removeSmallest() { best.append(least) }
        return best.reversed()
    }
}
