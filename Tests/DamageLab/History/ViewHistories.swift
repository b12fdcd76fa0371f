import Foundation
import TestKit

/// Random histories of ledgers whose views must end as one fold of all events makes them, whatever happened on the way.
struct ViewHistories {
    private let count: Int
    private let seed: UInt64
    private let jobs: Int

    init(_ options: Options) throws {
        count = try options.number("count", 20)
        seed = UInt64(try options.number("seed", Int.random(in: 1...999_999)))
        jobs = try options.number("jobs", 2)
    }

    func run() async throws {
        let tally = Shared(HistoryTally())
        let seed = seed
        try await inParallel(count, jobs: jobs) { number in
            let one = seed &+ UInt64(number)
            do {
                let found = try await ViewHistory(seed: one).run()
                let done = tally.withLock { tally in
                    tally.add(found)
                    return tally.histories
                }
                if done % 100 == 0 { say("\(done) histories") }
            } catch {
                throw Failure("history \(one) (count=1 seed=\(one)): \(error)")
            }
        }
        let sums = tally.withLock { $0 }
        say(
            "\(sums.histories) histories from seed \(seed) with \(sums.events) events, \(sums.kills) kills and \(sums.steps) flushes, reopenings, "
                + "rebuilds, keys and policies: each view equals a full fold, \(sums.sealed) times that of sealed blocks")
    }
}

struct HistoryTally: Sendable {
    var histories = 0
    var events = 0
    var kills = 0
    var steps = 0
    var sealed = 0

    mutating func add(_ other: HistoryTally) {
        histories += other.histories
        events += other.events
        kills += other.kills
        steps += other.steps
        sealed += other.sealed
    }
}
