import EventLog
import Foundation
import LMDB
import Projections
import ProtobufWire
import TestKit
import Testing

@testable import ViewQuery

/// Queries and searches that ask for parts of texts.
@Suite struct TextConditions {
    @Test
    func `G10: contains, prefix and suffix of any length are served by an index, as the plan says, whatever comes and goes`()
        async throws
    {
        var random = SeededGenerator(seed: 77)
        let folder = try TemporaryFolder()
        let store = try Note.store(folder)
        defer { store.close() }
        let projector = try Projector(KeptRows<Note>(), store: store)
        let texts = ["", " ", "a", "ab", "Hafen  Süd", "\u{0}\u{2}x", "ᾳβ", "e\u{301}", "👩‍👩‍👧 ok"]
        var (rows, next) = ([[UInt8]: Note](), UInt64(1))
        for round in 0..<4 {
            let changes = (0..<150 as Range<UInt64>).map { _ in
                let sequence = UInt64.random(in: 0..<250, using: &random)
                let text =
                    Int.random(in: 0..<4, using: &random) == 0 ? texts.randomElement(using: &random) ?? "" : Note.text(&random)
                return (Note(node: UInt32(sequence % 3), sequence: sequence, text), Int.random(in: 0..<4, using: &random) == 0)
            }
            for (row, isGone) in changes { rows[row.key] = isGone ? nil : row }
            try await projector.fold(KeptRows<Note>.Batch(first: next, changes), isCatchingUp: false)
            next += UInt64(changes.count)
            try await projector.flush(.request)
            #expect(try store.fault(of: Note.indexedTables[0]) == nil, "round \(round)")
            let all = rows.values.sorted { $0.key.lexicographicallyPrecedes($1.key) }
            let patterns =
                texts + ["o", "to", "Wa", "hafen", "SÜD", "  ", "ok", "\u{301}", "ι", "αι", "α", "zzz", "ter, the", "👍"]
            for pattern in patterns {
                for place in TextPattern.Place.allCases {
                    for options in (0..<4).map({ TextPattern.Options(rawValue: $0) }) {
                        let wanted = TextPattern(pattern, at: place, options)
                        var query = FetchDescriptor<Note>()
                        query.textConditions = [TextCondition(wanted, in: \.text)]
                        let run = try QueryRun(query)
                        #expect(
                            try run.rows(in: store) == all.filter { wanted.matches($0.text) },
                            "\(pattern.debugDescription) \(place) \(options), round \(round)")
                        let isNarrowed = run.explanation.access == .parts
                        let isFolded = pattern.decomposedStringWithCanonicalMapping.unicodeScalars.allSatisfy {
                            (0x300...0x36F).contains($0.value)
                        }
                        if !isFolded, pattern != "ᾳβ" { #expect(isNarrowed && run.explanation.indexes == ["text: parts"]) }
                    }
                }
            }
            // Of a predicate, too, also among other parts of it.
            for part in ["ater", "he", "", "Süd"] {
                let contains = FetchDescriptor<Note>(predicate: #Predicate { $0.text.contains(part) && $0.node != 1 })
                let both = try #require(contains.predicate)
                #expect(try QueryRun(contains).rows(in: store) == all.filter { try both.evaluate($0) }, "\(part)")
                let begins = FetchDescriptor<Note>(predicate: #Predicate { $0.text.starts(with: part) })
                #expect(try QueryRun(begins).rows(in: store) == all.filter { $0.text.starts(with: part) })
                // A few letters are not worth it where another part of the predicate bounds the rows.
                #expect(try (QueryRun(contains).explanation.access == .parts) == (part.count > 2))
                #expect(try (QueryRun(begins).explanation.access == .parts) == !part.isEmpty)
            }
        }
        var refused = FetchDescriptor<Note>()
        refused.requiresIndex = true
        refused.textConditions = [.contains("", in: \.text)]
        #expect(throws: QueryError.self) { try QueryRun(refused) }
        refused.textConditions = [.contains("pump", in: \.text)]
        #expect(
            try QueryRun(refused).explanation.description
                == "rows of notes by the parts of text; filter: each row; sort: none")
        #expect(!(try QueryRun(refused).rows(in: store).isEmpty))
    }

    @Test func `the parts of a stored text are those of the text`() {
        // Each character that is known, alone and among marks that change places.
        let known = [0x80...0x52F, 0x5B0...0x5C7, 0x1F300...0x1FAFF].joined().compactMap { Unicode.Scalar($0 as UInt32) }
        let characters = known.flatMap { ["Ab\($0)\u{301}", "x\u{316}\($0)\u{483}\u{327}é"] }
        for text in ["", "a", "AZ", "\u{0}\u{4}\u{5}x~\u{7f}", "Hello, harbour", "Größe Σς", "e\u{301}\u{345}"] + characters {
            var (parts, stored): ([[UInt8]], [[UInt8]]) = ([], [])
            TextParts.visit(text) { parts.append($0) }
            TextParts.visit(ofUTF8: Array(text.utf8).rawSpan) { stored.append($0) }
            #expect(parts == stored && !parts.isEmpty, "\(text)")
        }
    }

    @Test(arguments: UInt64(1)...3)
    func `G10: fetching, counting and searching by parts of texts, of any length, finds what a plain reading finds`(seed: UInt64)
        throws
    {
        var random = SeededGenerator(seed: seed)
        let folder = try TemporaryFolder()
        let store = try Note.store(folder)
        defer { store.close() }
        let notes = (0..<300 as Range<UInt64>).map { Note(node: UInt32($0 % 7), sequence: $0, Note.text(&random)) }
            .sorted { $0.key.lexicographicallyPrecedes($1.key) }
        try store.environment.write { (transaction) throws(StorageError) in
            for note in notes {
                try transaction.put(store.table(Note.table), key: note.key.rawSpan, value: Array(note.text.utf8).rawSpan)
            }
        }
        try store.buildMissingIndexes(sortLimit: seed == 1 ? 5_000 : 32 << 20)
        func part() -> String {
            let text = notes.randomElement(using: &random)?.text ?? ""
            let start = Int.random(in: 0...text.count, using: &random)
            return String(text.dropFirst(start).prefix(Int.random(in: 0...4, using: &random)))
        }
        for _ in 0..<120 {
            let options = TextPattern.Options(rawValue: Int.random(in: 0..<4, using: &random))
            let pattern = [part(), part(), "", " ", "e", "👍"].randomElement(using: &random) ?? ""
            let place = TextPattern.Place.allCases.randomElement(using: &random) ?? .anywhere
            let found = TextPattern(pattern, at: place, options)
            let other = part()
            func holds(_ note: Note) -> Bool { found.matches(note.text) && !TextPattern(other).matches(note.text) }
            var query = FetchDescriptor<Note>(sortBy: [SortDescriptor(\.sequence, order: .reverse)])
            query.textConditions = [TextCondition(found, in: \.text), !.contains(other, in: \.text)]
            let wanted = notes.filter(holds).sorted { $0.sequence > $1.sequence }
            #expect(try QueryRun(query).rows(in: store) == wanted, "\(pattern.debugDescription), seed \(seed)")
            #expect(try QueryRun(query).count(in: store) == wanted.count)
            #expect(try CompiledPredicate(query).holds(for: notes[0]) == holds(notes[0]))
            query.textConditions = [.any(query.textConditions)]
            #expect(
                try QueryRun(query).count(in: store)
                    == notes.count { found.matches($0.text) || !TextPattern(other).matches($0.text) })
            query.predicate = #Predicate { $0.node == 3 }
            query.textConditions = [TextCondition(found, in: \.text)]
            #expect(try QueryRun(query).count(in: store) == notes.count { $0.node == 3 && found.matches($0.text) })
            var search = TextQuery<Note>("water", in: \.text, fetchLimit: nil)
            let hits = try TextSearch(search).hits(in: store)
            search.textConditions = [TextCondition(found, in: \.text)]
            #expect(try TextSearch(search).hits(in: store).map(\.row) == hits.map(\.row).filter { found.matches($0.text) })
        }
    }
}
