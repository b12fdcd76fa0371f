internal import Foundation
internal import LMDB
internal import Projections

/// Ranks rows by how well their texts answer some words: Okapi BM25 with k1 = 1.2 and b = 0.75.
///
/// A word that n of N rows have weighs ln(1 + (N - n + 0.5) / (n + 0.5)); in a row that has it f times among l words, of a average ones, it counts that
/// times f * (k1 + 1) / (f + k1 * (1 - b + b * l / a)).
struct TextRanking {
    struct Candidate: Comparable {
        var row: UInt64
        var score: Double

        /// Of equals the newer row is the better one.
        static func < (left: Candidate, right: Candidate) -> Bool {
            left.score != right.score ? left.score < right.score : left.row < right.row
        }
    }

    static let saturation = 1.2
    static let lengthWeight = 0.75

    private struct Word {
        var postings: [Posting]
        var weight: Double
    }

    private let words: [Word]
    private let demandsAll: Bool
    private let averageLength: Double

    /// - Parameters:
    ///   - lists: of each word that was asked for, where it occurs, in ascending order of the rows.
    ///   - rows: how many have words at all.
    ///   - length: how many words these have together.
    init(_ lists: [[Posting]], demandsAll: Bool, rows: UInt64, length: UInt64) {
        averageLength = rows > 0 ? Double(length) / Double(rows) : 1
        self.demandsAll = demandsAll
        words = lists.sorted { $0.count < $1.count }.map { list in
            let among = Double(list.count)
            return Word(postings: list, weight: log(1 + (max(0, Double(rows) - among) + 0.5) / (among + 0.5)))
        }
    }

    private func score(_ word: Word, _ posting: Posting) -> Double {
        let (times, length) = (Double(posting.count), Double(posting.length))
        let norm = Self.saturation * (1 - Self.lengthWeight + Self.lengthWeight * length / averageLength)
        return word.weight * times * (Self.saturation + 1) / (times + norm)
    }

    /// All rows that answer, in ascending order of the rows.
    func candidates() -> [Candidate] {
        guard let rarest = words.first else { return [] }
        return demandsAll ? withAll(rarest) : withAny()
    }

    private func withAll(_ rarest: Word) -> [Candidate] {
        var places = [Int](repeating: 0, count: words.count)
        var found: [Candidate] = []
        for posting in rarest.postings {
            var sum = score(rarest, posting)
            var hasAll = true
            for index in words.indices.dropFirst() {
                let list = words[index].postings
                var place = places[index]
                while place < list.count, list[place].row < posting.row { place += 1 }
                places[index] = place
                guard place < list.count, list[place].row == posting.row else {
                    hasAll = false
                    break
                }
                sum += score(words[index], list[place])
            }
            if hasAll { found.append(Candidate(row: posting.row, score: sum)) }
        }
        return found
    }

    private func withAny() -> [Candidate] {
        var found: [Candidate] = []
        for word in words {
            var merged: [Candidate] = []
            merged.reserveCapacity(found.count + word.postings.count)
            var place = 0
            for posting in word.postings {
                while place < found.count, found[place].row < posting.row {
                    merged.append(found[place])
                    place += 1
                }
                var sum = score(word, posting)
                if place < found.count, found[place].row == posting.row {
                    sum += found[place].score
                    place += 1
                }
                merged.append(Candidate(row: posting.row, score: sum))
            }
            merged += found[place...]
            found = merged
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
