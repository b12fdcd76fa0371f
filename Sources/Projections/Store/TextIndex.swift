import FlatCollections
import ProtobufWire

/// An index from the words of a text to the rows that have it. It has two tables besides the rows: `index.text.NAME` has each word's postings, under
/// the word, a zero and the first row among them; `index.text.NAME.rows` has the keys of the rows by their last bytes, as the postings name them.
///
/// Like other indexes it is derived from the rows: it is not part of a view's digest, recipe or baseline.
package struct TextIndex: Sendable {
    /// Collects the words of one row after the other.
    package struct Words: Sendable {
        private(set) var table = WordTable()
        private var numbers: [Int32] = []

        init() {}

        package mutating func add(_ word: [UInt8]) { numbers.append(table.number(of: word.span)) }

        /// The words added since the last call.
        mutating func take() -> WordCounts {
            numbers.sort()
            var counts: [WordCounts.Count] = []
            counts.reserveCapacity(numbers.count)
            for number in numbers {
                if let last = counts.last, last.word == number {
                    counts[counts.count - 1].times &+= 1
                } else {
                    counts.append(WordCounts.Count(word: number, times: 1))
                }
            }
            defer { numbers.removeAll(keepingCapacity: true) }
            return WordCounts(counts: counts, length: UInt32(clamping: numbers.count))
        }

        /// Visits the words added since the last call, as they occur in the text, and forgets them.
        mutating func drain(_ visit: (Int32) -> Void) {
            for number in numbers { visit(number) }
            numbers.removeAll(keepingCapacity: true)
        }
    }

    /// How often each word occurs in a row's text.
    struct WordCounts: Sendable, Equatable {
        struct Count: Sendable, Equatable {
            var word: Int32
            var times: UInt32
        }

        /// In the order of the words' numbers.
        var counts: [Count] = []
        /// The number of all words.
        var length: UInt32 = 0

        /// The same words, as if each occurred once.
        var withoutFrequencies: WordCounts {
            WordCounts(counts: counts.map { Count(word: $0.word, times: 1) }, length: min(length, 1))
        }
    }

    package let name: String
    /// The rows' table. The last eight bytes of their keys, or all of shorter ones, identify the rows.
    package let table: String
    /// Whether postings store how often a word occurs, and in how many words, by which results are ranked.
    package let storesFrequencies: Bool
    /// The name of another index of all these rows and more, if that one keeps their keys for both.
    let keysOf: String?
    let addWords: @Sendable (RawSpan, RawSpan, inout Words) -> Bool

    /// - Parameter addWords: adds the words of a row, given by its key and value; false if the row cannot be read.
    package init(
        name: String, table: String, storesFrequencies: Bool = true, keysOf: String? = nil,
        addWords: @escaping @Sendable (RawSpan, RawSpan, inout Words) -> Bool
    ) {
        self.name = name
        self.table = table
        self.storesFrequencies = storesFrequencies
        self.keysOf = keysOf
        self.addWords = addWords
    }

    var postings: String { "\(IndexedTable.prefix)text.\(name)" }
    var rows: String { "\(IndexedTable.prefix)text.\(keysOf ?? name).rows" }
    var tables: [String] { keysOf == nil ? [postings, rows] : [postings] }

    /// The number by which postings refer to the row of a key.
    package static func row(of key: RawSpan) -> UInt64 {
        var row: UInt64 = 0
        for place in max(0, key.byteCount - 8)..<key.byteCount { row = row << 8 | UInt64(key.byte(at: place)) }
        return row
    }
}
