import Foundation
import GRDB
import MeshLedger

/// `query-bench FOLDER ROWS ROUNDS`: asks MeshLedger and SQLite through GRDB the same of the same positions, in turns, each both first and second,
/// and tells the medians as lines of JSON.
struct Question {
    let name: String
    /// Rows that the figure is divided by; 1 for the whole.
    let rows: Int
    let turns: Int
    let ours: (Int) throws -> Int
    let theirs: (Int) throws -> Int
}

struct Mismatch: Error, CustomStringConvertible { let description: String }

func secondsNow() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

/// The median time of a turn, in microseconds, and the sum of what the turns found.
func measure(_ turns: Int, _ body: (Int) throws -> Int) rethrows -> (microseconds: Double, found: Int) {
    var (times, found): ([Double], Int) = ([], 0)
    for turn in 0..<turns {
        let start = secondsNow()
        found += try body(turn)
        times.append((secondsNow() - start) * 1e6)
    }
    return (median(times), found)
}

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
    for question in questions {
        var (ours, theirs): ([Double], [Double]) = ([], [])
        for round in 0..<rounds {
            var found = [0, 0]
            for side in round.isMultiple(of: 2) ? [0, 1] : [1, 0] {
                let done = try measure(question.turns, side == 0 ? question.ours : question.theirs)
                found[side] = done.found
                if side == 0 { ours.append(done.microseconds) } else { theirs.append(done.microseconds) }
            }
            guard found[0] == found[1] else {
                throw Mismatch(description: "\(question.name): found \(found[0]) here, \(found[1]) in SQLite")
            }
        }
        let divisor = Double(question.rows)
        print(
            "{\"work\":\"\(question.name)\",\"rows\":\(question.rows),\"ours_us\":\(median(ours) / divisor),"
                + "\"sqlite_us\":\(median(theirs) / divisor),\"per\":\"\(question.rows == 1 ? "query" : "row")\"}")
    }
    try await ledger.close()
}

let arguments = CommandLine.arguments
guard arguments.count == 4, let rows = Int(arguments[2]), let rounds = Int(arguments[3]) else {
    FileHandle.standardError.write(Data("query-bench FOLDER ROWS ROUNDS\n".utf8))
    exit(2)
}
do {
    try await run(arguments[1], rows: max(rows, 4_000), rounds: max(rounds, 1))
} catch {
    FileHandle.standardError.write(Data("query-bench: \(error)\n".utf8))
    exit(1)
}
