import Foundation
import TestKit

/// Kills processes that use ledgers, `kills` of them, and checks each ledger afterwards.
struct KillRun {
    private let kills: Int
    private let seed: UInt64
    private let jobs: Int
    private let program: URL

    init(_ options: Options) throws {
        kills = try options.number("kills", 20)
        seed = UInt64(try options.number("seed", 1))
        jobs = try options.number("jobs", 2)
        let beside = Child.program.deletingLastPathComponent().appendingPathComponent("meshledger").path
        program = URL(fileURLWithPath: options.text("program", beside))
    }

    func run() async throws {
        let tally = Shared(KillTally())
        let (kills, seed, program) = (kills, seed, program)
        let most = KillHistory.mostKills
        try await inParallel((kills + most - 1) / most, jobs: jobs) { number in
            var history = try await KillHistory(seed: seed &* 1_000_003 &+ UInt64(number), program)
            let result = try await history.run(kills: min(kills - number * most, most))
            let done = tally.withLock { tally in
                tally.add(result)
                return tally.ledgers
            }
            if done % 20 == 0 { say("\(done) ledgers") }
        }
        let sums = tally.withLock { $0 }
        say(
            "\(sums.killed.values.reduce(0, +)) processes killed (\(sums.text(sums.killed))) and \(sums.ended.values.reduce(0, +)) that had ended "
                + "(\(sums.text(sums.ended))), of \(sums.ledgers) ledgers with \(sums.events) events: all \(sums.acknowledged) acknowledged appends and "
                + "\(sums.erased) erasures are there, no gap, no root changed, \(sums.verified) checks in full, \(sums.folds) times the views were "
                + "those of a full fold")
        guard sums.acknowledged > 0 else { throw Failure("nothing was acknowledged") }
    }
}

struct KillTally: Sendable {
    var killed: [String: Int] = [:]
    /// Those that had ended before.
    var ended: [String: Int] = [:]
    var ledgers = 0
    var events = 0
    var acknowledged = 0
    var erased = 0
    var verified = 0
    var folds = 0

    mutating func add(_ other: KillTally) {
        killed.merge(other.killed) { $0 + $1 }
        ended.merge(other.ended) { $0 + $1 }
        ledgers += other.ledgers
        events += other.events
        acknowledged += other.acknowledged
        erased += other.erased
        verified += other.verified
        folds += other.folds
    }

    func text(_ counts: [String: Int]) -> String {
        counts.isEmpty ? "none" : counts.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
    }
}
