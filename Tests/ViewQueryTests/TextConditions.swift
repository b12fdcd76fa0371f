import Foundation
import LMDB
import Projections
import ProtobufWire
import TestKit
import Testing
import ViewQuery

/// Queries and searches that ask for parts of texts.
@Suite struct TextConditions {
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
        try store.buildMissingIndexes()
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
