import EventLog
import Foundation
import TestKit

/// Runs random histories against the model: `steps` steps in all, in histories of `length`, each from a seed of its own that follows from
/// `seed`. One in twenty is run twice and must repeat itself bit by bit.
struct ModelRun {
    private let steps: Int
    private let length: Int
    private let seed: UInt64
    private let jobs: Int
    /// Where to look again at one history.
    private let history: UInt64?

    init(_ options: Options) throws {
        steps = try options.number("steps", 5000)
        length = max(try options.number("length", 500), 1)
        seed = UInt64(try options.number("seed", 1))
        jobs = try options.number("jobs", 2)
        history = try options.number("history", -1) < 0 ? nil : UInt64(options.number("history", 0))
    }

    private struct Tally: Sendable {
        var steps = 0
        var histories = 0
        var repeated = 0
        var events = 0
        /// Of each history, in their order.
        var digests: [UInt64: UInt64] = [:]
    }

    func run() async throws {
        if let history {
            let (digest, events) = try await run(history, count: length)
            return say("history \(history): \(length) steps, \(events) events, digest \(String(digest, radix: 16))")
        }
        let tally = Shared(Tally())
        let count = (steps + length - 1) / length
        try await inParallel(count, jobs: jobs) { number in try await one(UInt64(number), tally) }
        let sums = tally.withLock { $0 }
        var digest: UInt64 = 0
        for number in 0..<UInt64(count) { digest = digest &* 0x100_0000_01b3 ^ (sums.digests[number] ?? 0) }
        say(
            "\(sums.steps) steps in \(sums.histories) histories with \(sums.events) events: every answer as the model's; "
                + "\(sums.repeated) histories repeated bit by bit; digest \(String(digest, radix: 16)) of seed \(seed)")
    }

    private func one(_ number: UInt64, _ tally: Shared<Tally>) async throws {
        let own = seed &* 1_000_003 &+ number
        let count = min(length, steps - Int(number) * length)
        let (digest, events) = try await run(own, count: count)
        let isRepeated = number % 20 == 0
        if isRepeated {
            let again = try await run(own, count: count).digest
            guard again == digest else {
                throw Failure("history=\(own) length=\(count) differs when it is run again: \(digest), then \(again)")
            }
        }
        let done = tally.withLock { tally -> Int in
            tally.steps += count
            tally.histories += 1
            tally.repeated += isRepeated ? 1 : 0
            tally.events += events
            tally.digests[number] = digest
            return tally.histories
        }
        if done % 100 == 0 { say("\(done) histories") }
    }

    private func run(_ history: UInt64, count: Int) async throws -> (digest: UInt64, events: Int) {
        let steps = ModelStep.history(seed: history, count: count)
        let last = Shared(0)
        let fault: Fault
        do {
            return try await Self.run(steps, seed: history) { place in last.withLock { $0 = place } }
        } catch {
            fault = Fault(step: last.withLock { $0 }, text: "\(error)")
        }
        let shortest = try await shorten(Array(steps.prefix(fault.step + 1)), seed: history)
        throw Failure(
            """
            history=\(history) length=\(count), step \(fault.step), \(fault.step < count ? steps[fault.step].description : "its end"): \(fault.text)
            again: Tools/prove model history=\(history) length=\(min(fault.step + 1, count))
            the shortest that still fails, \(shortest.count) steps: \(shortest.map(\.description).joined(separator: " "))
            """)
    }
}

extension ModelRun {
    private struct Fault {
        let step: Int
        let text: String
    }

    /// Runs the steps in a new folder, in memory or, for some seeds, on a disk, where the writer has a thread of its own.
    private static func run(
        _ steps: [ModelStep], seed: UInt64, begin: (Int) -> Void
    ) async throws -> (digest: UInt64, events: Int) {
        let isOnDisk = seed % 16 == 9
        let folder = try ScratchFolder(onDisk: isOnDisk)
        var history = try ModelHistory(at: folder.path + "/ledger", seed: seed)
        do {
            for (place, step) in steps.enumerated() {
                begin(place)
                try await history.perform(step)
            }
            begin(steps.count)
            try await history.end()
        } catch {
            await history.log.close()
            throw error
        }
        return (history.digest, history.model.withLock { $0.events.count })
    }

    /// The first step at which log and model differ, nil where none does.
    private static func fault(of steps: [ModelStep], seed: UInt64) async throws -> Fault? {
        let last = Shared(0)
        do {
            _ = try await run(steps, seed: seed) { place in last.withLock { $0 = place } }
            return nil
        } catch {
            return Fault(step: last.withLock { $0 }, text: "\(error)")
        }
    }

    /// Leaves out steps, many at first, as long as what remains fails; for a minute at most.
    private func shorten(_ failing: [ModelStep], seed: UInt64) async throws -> [ModelStep] {
        let end = ContinuousClock.now + .seconds(60)
        var steps = failing
        var size = steps.count / 2
        while size >= 1 {
            var start = 0
            while start < steps.count && ContinuousClock.now < end {
                var fewer = steps
                fewer.removeSubrange(start..<min(start + size, steps.count))
                if let fault = try await Self.fault(of: fewer, seed: seed) {
                    steps = Array(fewer.prefix(fault.step + 1))
                } else {
                    start += size
                }
            }
            size /= 2
        }
        return steps
    }
}
