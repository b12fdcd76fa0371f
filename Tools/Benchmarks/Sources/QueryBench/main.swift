import Foundation
import GRDB
import MeshLedger

/// `query-bench FOLDER ROWS ROUNDS`: runs the same queries in MeshLedger and in SQLite through GRDB, over the same positions and messages;
/// `query-bench large FOLDER ROWS`: how long a file of an older version takes to open, and how much memory reading all of it takes.
func run(_ folder: String, rows: Int, rounds: Int) async throws {
    let ledger = try await makeLedger(folder + "/ledger", count: rows, nodes: 2_000)
    let all = try ledger.positions(of: nil, RowQuery(newestFirst: false))
    let pool = try makePeer(folder + "/peer.sqlite", all)
    let nodes = try ledger.nodes().map(\.number)
    let times = all.map(\.time).sorted()
    let sample = (0..<997).map { all[$0 * 7_919 % all.count] }
    let (columns, width) = (StoredPosition.columns, min(1_000, all.count / 2))
    func node(_ turn: Int) -> UInt32 { nodes[turn * 7_919 % nodes.count] }
    func span(_ turn: Int, _ count: Int) -> (UInt32, UInt32) {
        let start = turn * 7_919 % (times.count - count)
        return (times[start], times[start + count])
    }
    let questions = [
        Question(
            name: "get by key", rows: 1, turns: 20_000,
            ours: { turn in
                let row = sample[turn % sample.count]
                return try ledger.position(of: row.node, at: row.time, sequence: row.sequence) == nil ? 0 : 1
            },
            theirs: { turn in
                let row = sample[turn % sample.count]
                return try pool.read { database in
                    try StoredPosition.fetchOne(
                        database.cachedStatement(
                            sql: "SELECT \(columns) FROM positions WHERE node = ? AND time = ? AND sequence = ?"),
                        arguments: [row.node, row.time, Int64(row.sequence)]) == nil ? 0 : 1
                }
            }),
        Question(
            name: "newest 100 of a node", rows: 1, turns: 2_000,
            ours: { try ledger.positions(of: node($0), RowQuery(limit: 100)).count },
            theirs: { turn in
                try pool.read { database in
                    try StoredPosition.fetchAll(
                        database.cachedStatement(
                            sql: "SELECT \(columns) FROM positions WHERE node = ? ORDER BY time DESC, sequence DESC LIMIT 100"),
                        arguments: [node(turn)]
                    ).count
                }
            }),
        Question(
            name: "the same, as a descriptor", rows: 1, turns: 2_000,
            ours: { turn in
                let number = node(turn)
                return try ledger.fetch(
                    FetchDescriptor<PositionRow>(
                        predicate: #Predicate { $0.node == number }, sortBy: [SortDescriptor(\.time, order: .reverse)],
                        fetchLimit: 100)
                ).count
            },
            theirs: { turn in
                try pool.read { database in
                    try StoredPosition.fetchAll(
                        database.cachedStatement(
                            sql: "SELECT \(columns) FROM positions WHERE node = ? ORDER BY time DESC, sequence DESC LIMIT 100"),
                        arguments: [node(turn)]
                    ).count
                }
            }),
        Question(
            name: "range of \(width) rows by index", rows: width, turns: 200,
            ours: { turn in
                let (low, high) = span(turn, width)
                return try ledger.fetch(
                    FetchDescriptor<PositionRow>(
                        predicate: #Predicate { $0.time >= low && $0.time < high }, sortBy: [SortDescriptor(\.time)])
                ).count
            },
            theirs: { turn in
                let (low, high) = span(turn, width)
                return try pool.read { database in
                    try StoredPosition.fetchAll(
                        database.cachedStatement(
                            sql: "SELECT \(columns) FROM positions WHERE time >= ? AND time < ? ORDER BY time"),
                        arguments: [low, high]
                    ).count
                }
            }),
        Question(
            name: "predicate without index, counted", rows: all.count, turns: 3,
            ours: { turn in
                let height = Int32(1_000 + turn)
                return try ledger.fetchCount(FetchDescriptor<PositionRow>(predicate: #Predicate { ($0.altitude ?? 0) > height }))
            },
            theirs: { turn in
                try pool.read { database in
                    try Int.fetchOne(
                        database.cachedStatement(sql: "SELECT COUNT(*) FROM positions WHERE IFNULL(altitude, 0) > ?"),
                        arguments: [1_000 + turn]) ?? 0
                }
            }),
        Question(
            name: "count by index", rows: all.count / 10, turns: 20,
            ours: { turn in
                let (low, high) = span(turn, all.count / 10)
                return try ledger.fetchCount(
                    FetchDescriptor<PositionRow>(predicate: #Predicate { $0.time >= low && $0.time < high }))
            },
            theirs: { turn in
                let (low, high) = span(turn, all.count / 10)
                return try pool.read { database in
                    try Int.fetchOne(
                        database.cachedStatement(sql: "SELECT COUNT(*) FROM positions WHERE time >= ? AND time < ?"),
                        arguments: [low, high]) ?? 0
                }
            }),
    ]
    try ask(questions, rounds)
    try await ledger.close()
}

let arguments = CommandLine.arguments
guard arguments.count == 4, let rows = Int(arguments[arguments[1] == "large" ? 3 : 2]),
    let rounds = arguments[1] == "large" ? 1 : Int(arguments[3])
else {
    FileHandle.standardError.write(Data("query-bench FOLDER ROWS ROUNDS, or query-bench large FOLDER ROWS\n".utf8))
    exit(2)
}
do {
    if arguments[1] == "large" {
        try await runLarge(arguments[2], rows: max(rows, 20_000))
    } else {
        try await run(arguments[1], rows: max(rows, 4_000), rounds: max(rounds, 1))
        try await search(arguments[1], messages: max(rows / 5, 4_000), rounds: max(rounds, 1))
    }
} catch {
    FileHandle.standardError.write(Data("query-bench: \(error)\n".utf8))
    exit(1)
}
