import EventLog
import Foundation
import Glibc
import Synchronization
import TestKit

/// Lets the n-th call that changes a file fail, for each n and each kind of failure: the append in question fails with a clear error or
/// succeeds, what was acknowledged is there when the ledger is reopened, nothing is there twice, and nothing crashes.
struct FailingCalls {
    private let runs: Int
    private let appends: Int
    private let seed: UInt64
    private let jobs: Int

    init(_ options: Options) throws {
        runs = try options.number("runs", 60)
        appends = try options.number("appends", 8)
        seed = UInt64(try options.number("seed", 1))
        jobs = try options.number("jobs", 2)
    }

    private struct Fault: Sendable {
        let kind: String
        let error: Int32
        let isSticky: Bool

        static let all = [
            Fault(kind: "write", error: ENOSPC, isSticky: false), Fault(kind: "write", error: ENOSPC, isSticky: true),
            Fault(kind: "write", error: EIO, isSticky: false), Fault(kind: "write", error: 0, isSticky: false),
            Fault(kind: "write", error: EDQUOT, isSticky: false), Fault(kind: "sync", error: EIO, isSticky: false),
            Fault(kind: "sync", error: EIO, isSticky: true), Fault(kind: "sync", error: ENOSPC, isSticky: false),
        ]
    }

    private struct Tally: Sendable {
        var runs = 0
        var refused = 0
        var acknowledged = 0
    }

    func run() async throws {
        let scratch = try ScratchFolder()
        let shim = try FaultShim(in: scratch.path)
        let tally = Shared(Tally())
        var scenario = 0
        while tally.withLock({ $0.runs }) < runs {
            let own = seed &* 1_000_003 &+ UInt64(scenario)
            scenario += 1
            let folder = try ScratchFolder()
            let place = folder.path
            if Self.keeps(own) {
                try await KeepScenario.makeBase(at: place + "/base", seed: own)
            } else {
                try await Scenario.makeBase(at: place + "/base", seed: own)
            }
            try await all(of: own, place, shim, tally)
        }
        let sums = tally.withLock { $0 }
        // A few runs may all be refused, or none.
        guard sums.refused + sums.acknowledged > 0 else {
            throw Failure("nothing is shown: nothing was refused, and nothing acknowledged")
        }
        say(
            "\(sums.runs) runs of \(scenario) scenarios with one or all calls from one on failing: \(sums.refused) appends, seals, compactions, erasures, cuts, "
                + "restorations, merges or openings refused, \(sums.acknowledged) events acknowledged and all of them there, none twice"
        )
    }

    /// Every third scenario erases, drops, restores and merges.
    private static func keeps(_ own: UInt64) -> Bool { own % 3 == 2 }

    /// Every call of a scenario with every fault, or a sample of them.
    private func all(of own: UInt64, _ place: String, _ shim: FaultShim, _ tally: Shared<Tally>) async throws {
        var cases: [(Fault, Int)] = []
        let program = try ForkedProgram(shim, place: place + "/first")
        for kind in ["write", "sync"] {
            let path = place + "/count"
            try FileManager.default.copyItem(atPath: place + "/base", toPath: path)
            let file = place + "/calls"
            _ = try start(program, path, own, ["SHIM_KIND": kind, "SHIM_COUNT": file])
            let count = Int(try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n").first ?? "") ?? 0
            guard count > 0 else { throw Failure("no calls were counted") }
            try FileManager.default.removeItem(atPath: path)
            for fault in Fault.all where fault.kind == kind { cases += (1...count).map { (fault, $0) } }
        }
        cases.shuffle()
        let done = tally.withLock { $0.runs }
        let left = max(runs - done, 0)
        let chosen = Array(cases.prefix(left))
        let me = self
        let jobs = jobs
        let checker = Self.keeps(own) ? try await KeepChecker(place + "/base") : nil
        let results = Shared(Tally())
        try await inParallel(jobs, jobs: jobs) { job in
            let program = try ForkedProgram(shim, place: "\(place)/job\(job)")
            for number in stride(from: job, to: chosen.count, by: jobs) {
                let (fault, call) = chosen[number]
                let result = try await me.one(program, own, fault, call, place, "\(number)", checker)
                results.withLock {
                    $0.runs += 1
                    $0.refused += result.refused
                    $0.acknowledged += result.acknowledged
                }
            }
        }
        let sums = results.withLock { $0 }
        tally.withLock {
            $0.runs += sums.runs
            $0.refused += sums.refused
            $0.acknowledged += sums.acknowledged
        }
    }

    /// - Returns: what was refused.
    private func start(_ program: ForkedProgram, _ path: String, _ own: UInt64, _ more: [String: String]) throws -> [String] {
        let arguments =
            (Self.keeps(own) ? ["keep-scenario", "appends=2"] : ["scenario", "appends=\(appends)", "compacts=1"])
            + ["path=\(path)", "seed=\(own)", "disk=\(own % 2)"]
        let (end, lines, errors) = try program.run(arguments, environment: more.merging(["SHIM_ROOT": path]) { $1 })
        guard end == .exited(0) else { throw Failure("scenario \(own) with \(more): \(end) \(errors)") }
        return lines
    }

    private func one(
        _ program: ForkedProgram, _ own: UInt64, _ fault: Fault, _ call: Int, _ place: String, _ name: String,
        _ checker: KeepChecker?
    ) async throws -> (refused: Int, acknowledged: Int) {
        let path = "\(place)/run\(name)"
        try FileManager.default.copyItem(atPath: place + "/base", toPath: path)
        defer { try? FileManager.default.removeItem(atPath: path) }  // nothing depends on it
        var environment = ["SHIM_KIND": fault.kind, "SHIM_ERROR": String(fault.error), "SHIM_FAIL": String(call)]
        if fault.isSticky { environment["SHIM_STICKY"] = "1" }
        let refused = try start(program, path, own, environment)
        let acks = (try? String(contentsOfFile: path + "/acks", encoding: .utf8)) ?? ""  // none where nothing was acknowledged
        let wanted = acks.split(separator: "\n").compactMap { UInt64($0) }
        if let checker {
            let facts = wanted.map { KeepScenario.Told($0) }
            do {
                try await checker.read(path, facts)
                try await checker.goOn(path, facts)
            } catch {
                throw Failure("keep \(own), call \(call) \(environment), \(refused): \(error)")
            }
            return (refused.count, facts.count { if case .stored = $0 { true } else { false } })
        }
        let what = "scenario \(own), call \(call) \(environment), \(refused)"
        do throws(EventLogError) {
            let log = try EventLog.open(at: path)
            let result = try log.verify()
            guard result.isIntact else { throw EventLogError(.corrupt, path: path, detail: "\(result.problems.prefix(3))") }
            var counts: [UInt64: Int] = [:]
            for event in try log.events(in: EventSequence(1)...log.head) {
                counts[Scenario.number(event.payload), default: 0] += 1
            }
            try await log.append(NewEvent([1], encoding: .note, source: .log))
            await log.close()
            guard counts.values.allSatisfy({ $0 == 1 }) else {
                throw EventLogError(.corrupt, path: path, detail: "something is there twice")
            }
            for number in wanted where counts[number] == nil {
                throw EventLogError(.corrupt, path: path, detail: "\(number) was acknowledged and is not there")
            }
        } catch {
            throw Failure("\(what): \(error)")
        }
        return (refused.count, wanted.count)
    }
}
