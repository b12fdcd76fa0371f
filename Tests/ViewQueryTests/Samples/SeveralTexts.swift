import EventLog
import Foundation
import LMDB
import Projections
import ProtobufWire
import TestKit
import Testing
import ViewQuery

/// A row with two texts.
private struct Letter: KeptRow, Equatable {
    var sequence: UInt64
    var title = ""
    var body = ""

    static let view = "letters"
    static let table = "letters"
    static let columns: [RowColumn<Letter>] = [
        RowColumn(key: "sequence", \.sequence) { $0.sequence }, RowColumn("title", \.title) { $0.title },
        RowColumn("body", \.body) { $0.body },
    ]
    static let texts: [RowText<Letter>] = [RowText("title", \.title) { $0.title }, RowText("body", \.body) { $0.body }]

    init(_ sequence: UInt64, _ title: String, _ body: String) { (self.sequence, self.title, self.body) = (sequence, title, body) }

    init?(key: RawSpan, value: RawSpan) {
        guard key.byteCount == 8 else { return nil }
        let parts = String(decoding: value.asArray, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        self.init(key.bigEndianUInt64(at: 0), String(parts[0]), String(parts[1]))
    }

    var key: [UInt8] { bigEndian(sequence) }
    var value: [UInt8] { Array("\(title)\n\(body)".utf8) }
}

/// Searches over several properties, and for words that are spelt otherwise.
@Suite struct SeveralTexts {
    private static let words = [
        "water", "watre", "wter", "waters", "pump", "pumps", "pimp", "emergency", "emergancy", "emergncy", "emmergenzy", "sea",
        "see", "the",
        "harbour", "harbor",
    ]

    /// The least number of letters added, left out, replaced or swapped, by trying all.
    private static func distance(_ left: Substring, _ right: Substring) -> Int {
        guard let one = left.first else { return right.count }
        guard let other = right.first else { return left.count }
        let (rest, otherRest) = (left.dropFirst(), right.dropFirst())
        if one == other { return distance(rest, otherRest) }
        var least = min(distance(rest, right), distance(left, otherRest), distance(rest, otherRest)) + 1
        if let next = rest.first, let otherNext = otherRest.first, next == other, otherNext == one {
            least = min(least, distance(rest.dropFirst(), otherRest.dropFirst()) + 1)
        }
        return least
    }

    private static let shares: [String: [String: Double]] = {
        var shares: [String: [String: Double]] = [:]
        for wanted in words {
            let most = wanted.count < 4 ? 0 : wanted.count < 8 ? 1 : 2
            for word in words {
                let distance = distance(wanted[...], word[...])
                if distance <= most { shares[wanted, default: [:]][word] = distance == 0 ? 1 : 0.5 }
            }
        }
        return shares
    }()

    /// BM25 of each property as the books have it, all spellings as one word, added up.
    private static func ranked(
        _ rows: [Letter], _ question: [String], _ properties: [KeyPath<Letter, String>], fuzzy: Bool, all: Bool
    ) -> [UInt64: Double] {
        var scores: [UInt64: [Double?]] = [:]
        for property in properties {
            let texts = rows.map { (row: $0.sequence, words: $0[keyPath: property].split(separator: " ").map(String.init)) }
                .filter { !$0.words.isEmpty }
            let average = Double(texts.reduce(0) { $0 + $1.words.count }) / Double(max(texts.count, 1))
            for (place, wanted) in question.enumerated() {
                let share = fuzzy ? shares[wanted] ?? [wanted: 1] : [wanted: 1]
                let times = texts.map { text in text.words.reduce(0.0) { $0 + (share[$1] ?? 0) } }
                let among = Double(times.count { $0 > 0 })
                let weight = Foundation.log(1 + (Double(texts.count) - among + 0.5) / (among + 0.5))
                for (text, times) in zip(texts, times) where times > 0 {
                    let score = weight * times * 2.2 / (times + 1.2 * (0.25 + 0.75 * Double(text.words.count) / average))
                    var known = scores[text.row] ?? question.map { _ in nil }
                    known[place] = (known[place] ?? 0) + score
                    scores[text.row] = known
                }
            }
        }
        return scores.filter { !all || !$0.value.contains(nil) }.mapValues { $0.reduce(0) { $0 + ($1 ?? 0) } }
    }

    @Test(arguments: UInt64(1)...3)
    func `G11: over several properties, exactly and fuzzily, the ranks are those of the reference, through updates and deletions`(
        seed: UInt64
    ) async throws {
        var random = SeededGenerator(seed: seed)
        let folder = try TemporaryFolder()
        func text() -> String {
            (0..<Int.random(in: 0..<6, using: &random)).map { _ in Self.words.randomElement(using: &random) ?? "" }
                .joined(separator: " ")
        }
        var (rows, next) = ([UInt64: Letter](), UInt64(1))
        let store = try ViewStore.open(
            at: folder.path + "/letters", recipe: Recipe(view: "letters", version: 1, policy: "", keyring: ""),
            tables: [Letter.table],
            indexes: seed == 3 ? [] : Letter.indexedTables, access: .readWrite)
        defer { store.close() }
        let projector = try Projector(KeptRows<Letter>(), store: store)
        for round in 0..<5 {
            let changes = (0..<60).map { _ in
                let row = Letter(UInt64.random(in: 1...90, using: &random), text(), text())
                return (row, round > 0 && Int.random(in: 0..<4, using: &random) == 0)
            }
            for (row, isGone) in changes { rows[row.sequence] = isGone ? nil : row }
            try await projector.fold(KeptRows<Letter>.Batch(first: next, changes), isCatchingUp: false)
            next += UInt64(changes.count)
            try await projector.flush(.request)
            for _ in 0..<12 {
                let question = Array(
                    Set(
                        (0..<Int.random(in: 1...3, using: &random)).map { _ in
                            Self.words.randomElement(using: &random) ?? ""
                        })
                ).sorted()
                let (all, fuzzy) = (Bool.random(using: &random), Bool.random(using: &random))
                let chosen: [any KeyPath<Letter, String> & Sendable] =
                    [[\.title, \.body], [\.body], [\.title]].randomElement(using: &random) ?? []
                var query = TextQuery(question.joined(separator: " "), in: chosen, all ? .allWords : .anyWord, fetchLimit: nil)
                query.isFuzzy = fuzzy
                let wanted = Self.ranked(Array(rows.values), question, chosen.map { $0 }, fuzzy: fuzzy, all: all)
                let found = try TextSearch(query).hits(in: store)
                let what = "\(question) all \(all) fuzzy \(fuzzy) in \(chosen.count), seed \(seed)"
                #expect(Set(found.map(\.row.sequence)) == Set(wanted.keys), "\(what)")
                for hit in found { #expect(abs(hit.score - (wanted[hit.row.sequence] ?? -1)) < 1e-6, "\(what)") }
                #expect(zip(found, found.dropFirst()).allSatisfy { $0.score >= $1.score }, "\(what)")
            }
        }
    }
}
