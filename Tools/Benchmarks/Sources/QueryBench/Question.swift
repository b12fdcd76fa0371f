import Foundation

/// The same query to MeshLedger and to SQLite.
struct Question {
    let name: String
    /// The number of rows to divide the figure by; 1 for the whole query.
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

/// Alternates between both, each coming first and second, and prints the medians as lines of JSON.
func ask(_ questions: [Question], _ rounds: Int) throws {
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
}
