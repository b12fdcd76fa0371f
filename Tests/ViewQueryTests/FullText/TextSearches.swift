import EventLog
import Foundation
import LMDB
import Projections
import ProtobufWire
import TestKit
import Testing
import ViewQuery

/// Searches by words find what a plain reading of all rows finds, in the same order, whatever happened to the rows.
@Suite struct TextSearches {
    /// BM25 as the books have it, over all rows.
    private static func ranked(_ rows: [Note], _ words: [String], all: Bool) -> [(row: Note, score: Double)] {
        let texts = rows.map { (row: $0, words: reference($0.text)) }.filter { !$0.words.isEmpty }
        let average = Double(texts.reduce(0) { $0 + $1.words.count }) / Double(max(texts.count, 1))
        let wanted = Set(words.flatMap(reference))
        var hits: [(row: Note, score: Double)] = []
        for text in texts {
            let counts = wanted.map { word in (word, Double(text.words.count { $0 == word })) }.filter { $0.1 > 0 }
            guard all ? counts.count == wanted.count && !wanted.isEmpty : !counts.isEmpty else { continue }
            let score = counts.reduce(0.0) { sum, entry in
                let among = Double(texts.count { $0.words.contains(entry.0) })
                let weight = Foundation.log(1 + (Double(texts.count) - among + 0.5) / (among + 0.5))
                return sum + weight * entry.1 * 2.2 / (entry.1 + 1.2 * (0.25 + 0.75 * Double(text.words.count) / average))
            }
            hits.append((text.row, score))
        }
        return hits.sorted { $0.score != $1.score ? $0.score > $1.score : $0.row.sequence > $1.row.sequence }
    }

    /// The words of the generator's texts, written down without the fold that is tested.
    private static func reference(_ text: String) -> [String] {
        let folded = text.folding(options: [.caseInsensitive, .diacriticInsensitive, .widthInsensitive], locale: nil)
            .replacing("ß", with: "ss").replacing("ﬁ", with: "fi").replacing("ς", with: "σ")
            .filter { $0 != "'" && $0 != "’" }
        var words = [""]
        for character in folded {
            let isSingle = "水東京カレ👍👍🏽".contains(character) || character == "ー"
            if isSingle {
                words += [character == "👍🏽" ? "👍" : String(character), ""]
            } else if character.isLetter || character.isNumber {
                words[words.count - 1].append(character)
            } else {
                words.append("")
            }
        }
        return words.filter { !$0.isEmpty }
    }

    private func check(_ store: ViewStore, _ rows: [Note], _ random: inout SeededGenerator, _ seed: UInt64) throws {
        let question = (0..<Int.random(in: 1..<4, using: &random)).map { _ in Note.text(&random) }
        let all = Bool.random(using: &random)
        var query = TextQuery(question.joined(separator: " "), in: \Note.text, all ? .allWords : .anyWord, fetchLimit: nil)
        let wanted = Self.ranked(rows, question, all: all)
        let found = try TextSearch(query).hits(in: store)
        #expect(found.count == wanted.count, "\(question), all: \(all), seed \(seed)")
        for (hit, expected) in zip(found, wanted) { #expect(abs(hit.score - expected.score) < 1e-6, "\(question), seed \(seed)") }
        #expect(Set(found.map(\.row.key)) == Set(wanted.map(\.row.key)), "\(question), all: \(all), seed \(seed)")
        let node = UInt32.random(in: 0..<3, using: &random)
        query.predicate = #Predicate { $0.node == node }
        (query.fetchLimit, query.fetchOffset) = (Int.random(in: 0..<6, using: &random), Int.random(in: 0..<3, using: &random))
        let page = found.filter { $0.row.node == node }.dropFirst(query.fetchOffset).prefix(query.fetchLimit ?? 0)
        #expect(try TextSearch(query).hits(in: store).map(\.row) == page.map(\.row), "\(question), seed \(seed)")
    }

    @Test(arguments: UInt64(1)...6)
    func `G11: whatever is stored, changed and taken away, a search ranks the rows as a plain reading does`(seed: UInt64)
        async throws
    {
        var random = SeededGenerator(seed: seed)
        let folder = try TemporaryFolder()
        var (rows, next) = ([[UInt8]: Note](), UInt64(1))
        for round in 0..<8 {
            // Now and then a program that knows no words writes.
            let knowsWords = round < 2 || Int.random(in: 0..<4, using: &random) > 0
            let store = try Note.store(folder, indexes: knowsWords ? Note.indexedTables : [])
            let projector = try Projector(KeptRows<Note>(), store: store)
            for _ in 0..<Int.random(in: 0..<5, using: &random) {
                let changes = (0..<Int.random(in: 1..<60, using: &random)).map { _ in
                    let sequence = UInt64.random(in: 0..<200, using: &random)
                    let row = Note(node: UInt32(sequence % 3), sequence: sequence * sequence * 7_919, Note.text(&random))
                    return (row, Int.random(in: 0..<3, using: &random) == 0)
                }
                for (row, isGone) in changes { rows[row.key] = isGone ? nil : row }
                try await projector.fold(KeptRows<Note>.Batch(first: next, changes), isCatchingUp: Bool.random(using: &random))
                next += UInt64(changes.count)
                if Bool.random(using: &random) { continue }
                try await projector.flush(.request)
                try check(store, Array(rows.values), &random, seed)
            }
            try await projector.flush(.close)
            if knowsWords {
                let indexed = try #require(Note.indexedTables.first)
                #expect(try store.isIndexed(indexed, in: store.environment.beginRead()), "seed \(seed), round \(round)")
                #expect(try store.fault(of: indexed) == nil, "seed \(seed), round \(round)")
            }
            for _ in 0..<5 { try check(store, Array(rows.values), &random, seed) }
            store.close()
        }
    }

    @Test func `long lists of a word are split, and lose what is taken away from their middle`() async throws {
        let folder = try TemporaryFolder()
        let store = try Note.store(folder)
        defer { store.close() }
        let projector = try Projector(KeptRows<Note>(), store: store)
        let rows = (0..<3_000 as Range<UInt64>).map {
            Note(node: 1, sequence: $0 * 1_000_003, $0 % 7 == 0 ? "the pump" : "the the")
        }
        try await projector.fold(KeptRows<Note>.Batch(first: 1, rows.map { ($0, false) }), isCatchingUp: false)
        try await projector.flush(.request)
        try await projector.fold(
            KeptRows<Note>.Batch(first: 3_001, rows[500..<2_500].map { ($0, true) }), isCatchingUp: false)
        try await projector.flush(.request)
        try await projector.fold(
            KeptRows<Note>.Batch(first: 5_001, rows[1_000..<1_010].reversed().map { ($0, false) }), isCatchingUp: false)
        try await projector.flush(.request)
        #expect(try store.fault(of: Note.indexedTables[0]) == nil)
        let left = Array(rows[..<500] + rows[1_000..<1_010] + rows[2_500...])
        let found = try TextSearch(TextQuery("the", in: \Note.text, fetchLimit: nil)).hits(in: store)
        #expect(Set(found.map(\.row.sequence)) == Set(left.map(\.sequence)))
        let both = try TextSearch(TextQuery("PUMP the", in: \Note.text, fetchLimit: 3)).hits(in: store)
        #expect(both.map(\.row) == left.filter { $0.text == "the pump" }.suffix(3).reversed())
    }

    @Test(arguments: [
        ("cafe", "Café au lait", true), ("STRASSE", "Straße 5", true), ("σίσυφος", "ΣΊΣΥΦΟΣ", true), ("fire", "ﬁre!", true),
        ("dont", "don’t", true), ("don't", "DONT", true), ("don", "don't", false), ("123", "１２３", true), ("京", "東京駅", true),
        ("東京", "京東", true), ("東西", "東京", false), ("👍", "ok👍🏽", true), ("wat", "water", false), ("", "water", false),
        ("!", "!", false),
        ("हिन्दी", "यह हिन्दी है", true), ("İstanbul", "istanbul", true),
    ])
    func `G11: a word is found whatever its case, marks and width, and only as a whole`(
        question: String, text: String, isFound: Bool
    ) async throws {
        let folder = try TemporaryFolder()
        let store = try Note.store(folder)
        defer { store.close() }
        let projector = try Projector(KeptRows<Note>(), store: store)
        try await projector.fold(KeptRows<Note>.Batch(first: 1, [(Note(node: 1, sequence: 1, text), false)]), isCatchingUp: false)
        try await projector.flush(.request)
        #expect(try TextSearch(TextQuery(question, in: \Note.text)).hits(in: store).isEmpty == !isFound)
    }

    @Test func `what is no text of the row is refused`() throws {
        struct Bare: QueryRow {
            var name = ""
            static let view = "bare"
            static let table = "bare"
            static let columns: [RowColumn<Bare>] = [RowColumn("name", \.name) { $0.name }]
            init?(key: RawSpan, value: RawSpan) { nil }
        }
        let error = #expect(throws: QueryError.self) { _ = try TextSearch(TextQuery("x", in: \Bare.name)) }
        #expect(error?.code == .unsupported)
    }
}
