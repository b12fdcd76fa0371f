import Foundation
import GRDB
import MeshLedger

/// Words that occur about as often as in a language: the word of rank r once in ten times r.
struct Vocabulary {
    private static let size = 20_000
    private var random: UInt64 = 7

    mutating func next() -> UInt64 {
        random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return random >> 24
    }

    mutating func text() -> String {
        (0..<5 + next() % 8).map { _ in
            let uniform = Double(next() & 0xffff_ffff) / 4_294_967_296
            return Self.word(Int(pow(Double(Self.size), uniform)))
        }.joined(separator: " ")
    }

    /// The word of a rank, from 1 on.
    static func word(_ rank: Int) -> String {
        let syllables = ["ba", "ke", "li", "mo", "nu", "ra", "se", "ti", "vo", "zu"]
        return String(rank).compactMap { $0.wholeNumberValue.map { syllables[$0] } }.joined()
    }
}

/// `query-bench` on messages: the best 20 of those that have two words, beside SQLite's FTS5.
func search(_ folder: String, messages count: Int, rounds: Int) async throws {
    var options = LedgerOptions(log: EventLogOptions(isDurable: false))
    options.caps.messages = count
    let ledger = try await Ledger.create(at: folder + "/messages", options: options)
    let pool = try DatabasePool(path: folder + "/messages.sqlite")
    let source = try await ledger.log.source(named: "benchmark")
    var (vocabulary, batch, texts): (Vocabulary, EventBatch, [String]) = (Vocabulary(), EventBatch(), [])
    for index in 0..<count {
        let time = 1_780_000_000 + UInt32(index)
        texts.append(vocabulary.text())
        let packet = message { bytes in
            fixed(1, 0x1000_0000 + UInt32(vocabulary.next() % 2_000), &bytes)
            fixed(2, .max, &bytes)
            nested(
                4,
                message {
                    varint(1, 1, &$0); nested(2, Array(texts[index].utf8), &$0)
                }, &bytes)
            fixed(6, UInt32(index + 1), &bytes)
            fixed(7, time, &bytes)
        }
        batch.append(event(packet, source, at: time))
        if batch.count == 10_000 || index == count - 1 {
            try await ledger.log.append(batch)
            batch = EventBatch()
        }
    }
    try await ledger.catchUp()
    try await pool.write { [texts] database in
        try database.execute(sql: "CREATE VIRTUAL TABLE texts USING fts5(body)")
        let insert = try database.makeStatement(sql: "INSERT INTO texts VALUES (?)")
        for text in texts { try insert.execute(arguments: [text]) }
        try database.execute(sql: "INSERT INTO texts(texts) VALUES ('optimize')")
    }
    func words(_ turn: Int) -> String { Vocabulary.word(3 + turn % 41) + " " + Vocabulary.word(50 + turn * 7 % 301) }
    try ask(
        [
            Question(
                name: "two words in \(count) messages, best 20", rows: 1, turns: 300,
                ours: { try ledger.search(TextQuery(words($0), in: \MessageRow.text)).count },
                theirs: { turn in
                    try pool.read { database in
                        try Row.fetchAll(
                            database.cachedStatement(
                                sql: "SELECT rowid, body, rank FROM texts WHERE texts MATCH ? ORDER BY rank LIMIT 20"),
                            arguments: [words(turn)]
                        ).count
                    }
                })
        ], rounds)
    try await ledger.close()
}
