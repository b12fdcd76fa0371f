import EventLog
import Foundation
import Glibc
import Synchronization
import TestKit

/// Flips every bit of a small ledger's file, or a sample of them, one at a time. No image may give a wrong record or hang anybody; a crash
/// of the store is allowed to the child that reads, never to `meshledger verify`; a salvage saves all records whose bytes were not touched.
struct BitRot {
    private let bytes: Int
    /// How many bits, 0 for all.
    private let bits: Int
    private let seed: UInt64
    /// How many of the images that crashed a child `meshledger verify` has to report.
    private let reports: Int
    private let jobs: Int
    private let program: URL

    init(_ options: Options) throws {
        bytes = try options.number("bytes", 1 << 20)
        bits = try options.number("bits", 2000)
        seed = UInt64(try options.number("seed", 1))
        reports = try options.number("reports", 20)
        jobs = try options.number("jobs", 2)
        let beside = Child.program.deletingLastPathComponent().appendingPathComponent("meshledger").path
        program = URL(fileURLWithPath: options.text("program", beside))
    }

    func run() async throws {
        let scratch = try ScratchFolder()
        let pristine = scratch.path + "/pristine"
        try await Self.makeLedger(at: pristine, bytes: bytes, seed: seed)
        let file = pristine + "/log/1/data.mdb"
        let size = try FileManager.default.attributesOfItem(atPath: file)[.size] as? Int ?? 0
        let total = size * 8
        let wanted = bits == 0 ? total : min(bits, total)
        let tally = Mutex(Tally())
        let failure = Mutex<(any Error)?>(nil)
        let (jobs, bits, seed) = (jobs, bits, seed)
        let (program, reports) = (program, reports)
        let truth = try Truth(pristine)
        DispatchQueue.concurrentPerform(iterations: jobs) { job in
            do {
                let work = scratch.path + "/work\(job)"
                try FileManager.default.copyItem(atPath: pristine, toPath: work)
                let share = Share(
                    first: wanted * job / jobs, end: wanted * (job + 1) / jobs, total: total, seed: bits == 0 ? nil : seed)
                try Self.run(share, truth, pristine, work, program, reports: reports / jobs, tally)
            } catch {
                failure.withLock { $0 = error }
            }
        }
        let sums = tally.withLock { $0 }
        say(
            "\(sums.images) images of \(size) bytes: \(sums.whole) read as they were, \(sums.refused) refused at open, "
                + "\(sums.damaged) named as damaged, \(sums.crashes) crashed the store in the reader, \(sums.reported) of these "
                + "reported by verify; \(sums.salvages) salvages")
        if let error = failure.withLock({ $0 }) { throw error }
        guard sums.images == wanted else { throw Failure("only \(sums.images) of \(wanted) images were looked at") }
    }

    fileprivate struct Tally {
        var images = 0
        var whole = 0
        var refused = 0
        var damaged = 0
        var crashes = 0
        var reported = 0
        var salvages = 0
    }

    /// Which images one job looks at.
    private struct Share: Sendable {
        var first: Int
        let end: Int
        let total: Int
        /// Nil for every bit in turn.
        let seed: UInt64?
    }

    private static func run(
        _ share: Share, _ truth: Truth, _ pristine: String, _ work: String, _ program: URL, reports: Int,
        _ tally: borrowing Mutex<Tally>
    ) throws {
        var next = share.first
        var reported = 0
        while next < share.end {
            let state = Mutex<(begun: Int?, verdicts: [String], wrong: [String])>((nil, [], []))
            var arguments = [
                "bitrot-child", "pristine=\(pristine)", "work=\(work)", "first=\(next)", "end=\(share.end)",
                "total=\(share.total)",
            ]
            if let seed = share.seed { arguments.append("seed=\(seed)") }
            let (end, errors) = try Child.run(Child.program, arguments, patience: 60) { line in
                let words = line.split(separator: " ", maxSplits: 1).map(String.init)
                state.withLock { state in
                    switch words.first {
                    case "begin": state.begun = words.last.flatMap { Int($0) }
                    case "wrong": state.wrong.append(words.last ?? "")
                    default: state.verdicts.append(words.first ?? "")
                    }
                }
            }
            let result = state.withLock { $0 }
            tally.withLock { $0.add(result.verdicts) }
            guard result.wrong.isEmpty else { throw Failure(result.wrong.joined(separator: "\n")) }
            switch end {
            case .exited(0): return
            case .hung: throw Failure("bit \(result.begun.map { String($0) } ?? "?") hangs the reader")
            case .exited(let status): throw Failure("the reader ended with \(status): \(errors)")
            case .signalled:
                guard let begun = result.begun else { throw Failure("the reader crashed before it began: \(errors)") }
                let bit = BitRotChild.bit(begun, total: share.total, seed: share.seed)
                tally.withLock { $0.crashes += 1 }
                try salvage(truth, work, bit, tally)
                if reported < reports {
                    try report(work, pristine, bit, program)
                    reported += 1
                    tally.withLock { $0.reported += 1 }
                }
                try BitRotChild.restore(pristine, work)
                tally.withLock { $0.images += 1 }
                next = begun + 1
            }
        }
    }

    private static func salvage(_ truth: Truth, _ work: String, _ bit: Int, _ tally: borrowing Mutex<Tally>) throws {
        if let wrong = try truth.salvage(of: work, bit: bit) { throw Failure(wrong) }
        tally.withLock { $0.salvages += 1 }
    }

    /// The image is still as the reader that it crashed had it.
    private static func report(_ work: String, _ pristine: String, _ bit: Int, _ program: URL) throws {
        let (end, errors) = try Child.run(program, ["verify", "--ledger", work], patience: 60) { _ in }
        guard end == .exited(1), errors.contains("meshledger salvage"), !errors.contains("Fatal") else {
            throw Failure("bit \(bit): verify ended with \(end) and said: \(errors)")
        }
    }

    /// A ledger of about so many bytes with events of all sizes.
    static func makeLedger(at path: String, bytes: Int, seed: UInt64) async throws {
        var generator = SeededGenerator(seed: seed)
        let clock = Mutex<Int64>(1_760_000_000_000_000)
        let options = EventLogOptions(clock: {
            clock.withLock {
                $0 += 1_000_003; return Timestamp(microseconds: $0)
            }
        })
        let log = try EventLog.create(at: path, options: options)
        let source = try await log.source(named: "mqtt://broker.example/msh")
        var left = bytes * 9 / 10
        var isSealed = false
        while left > 0 {
            if !isSealed && left < bytes / 2 {
                try await log.seal()
                isSealed = true
            }
            let events = (0..<Int.random(in: 1..<60, using: &generator)).map { _ in
                let size =
                    switch Int.random(in: 0..<200, using: &generator) {
                    case 0: Int.random(in: 2000..<6000, using: &generator)
                    case 1: 0
                    default: Int.random(in: 20..<200, using: &generator)
                    }
                return NewEvent(generator.bytes(size), encoding: .note, source: source)
            }
            left -= events.reduce(0) { $0 + $1.payload.count + 56 }
            try await log.append(events, cursor: SourceCursor(key: "file", value: generator.bytes(30)))
        }
        await log.close()
    }
}

extension BitRot.Tally {
    fileprivate mutating func add(_ verdicts: [String]) {
        for verdict in verdicts {
            switch verdict {
            case "whole": whole += 1
            case "refused": refused += 1
            case "damaged": damaged += 1
            default: continue
            }
            images += 1
            salvages += 1
        }
    }
}
