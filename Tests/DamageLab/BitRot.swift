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
        let (jobs, program, reports) = (jobs, program, reports)
        let choice = BitChoice(total: total, seed: bits == 0 ? nil : seed)
        let truth = try Truth(pristine)
        let begun = ContinuousClock.now
        DispatchQueue.concurrentPerform(iterations: jobs) { job in
            do {
                let place = Place(
                    pristine: pristine, work: scratch.path + "/work\(job)", progress: scratch.path + "/progress\(job)")
                try FileManager.default.copyItem(atPath: pristine, toPath: place.work)
                let range = wanted * job / jobs..<wanted * (job + 1) / jobs
                try Self.run(range, choice, truth, place, program, reports: reports / jobs, tally)
            } catch {
                failure.withLock { $0 = error }
            }
        }
        let sums = tally.withLock { $0 }
        let seconds = Double((ContinuousClock.now - begun).components.seconds) + 1
        say(
            "\(sums.counts.images) images of \(size) bytes: \(sums.counts.whole) read as they were, \(sums.counts.refused) refused at open, "
                + "\(sums.counts.damaged) named as damaged, \(sums.crashes) crashed the store in the reader, \(sums.reported) of these "
                + "reported by verify; \(sums.counts.salvages) salvages; \(Int(Double(sums.counts.images) / seconds)) images a second"
        )
        if let error = failure.withLock({ $0 }) { throw error }
        guard sums.counts.images == wanted else { throw Failure("only \(sums.counts.images) of \(wanted) images were looked at") }
    }

    private struct Tally {
        var counts = BitCounts()
        var crashes = 0
        var reported = 0
    }

    /// Where one job works.
    private struct Place: Sendable {
        let pristine: String
        let work: String
        let progress: String
    }

    private static func run(
        _ range: Range<Int>, _ choice: BitChoice, _ truth: Truth, _ place: Place, _ program: URL, reports: Int,
        _ tally: borrowing Mutex<Tally>
    ) throws {
        var next = range.lowerBound
        var reported = 0
        while next < range.upperBound {
            let wrong = Mutex<[String]>([])
            try? FileManager.default.removeItem(atPath: place.progress)  // so where there is none
            var arguments = [
                "bitrot-child", "pristine=\(place.pristine)", "work=\(place.work)", "progress=\(place.progress)", "first=\(next)",
                "end=\(range.upperBound)", "total=\(choice.total)",
            ]
            if let seed = choice.seed { arguments.append("seed=\(seed)") }
            let (end, errors) = try Child.run(Child.program, arguments, patience: 60) { line in
                if line.hasPrefix("wrong ") { wrong.withLock { $0.append(line) } }
            }
            let counts = BitProgress.read(place.progress)
            tally.withLock { if let counts { $0.counts.add(counts) } }
            let told = wrong.withLock { $0 }
            guard told.isEmpty else { throw Failure(told.joined(separator: "\n")) }
            let bit = counts.map { choice.bit(Int($0.next)) }
            switch end {
            case .exited(0):
                tally.withLock { $0.reported += reported }
                return
            case .hung: throw Failure("bit \(bit.map { String($0) } ?? "?") hangs the reader")
            case .exited(let status): throw Failure("the reader ended with \(status): \(errors)")
            case .signalled:
                guard let counts, let bit else { throw Failure("the reader crashed before it began: \(errors)") }
                if let wrong = try truth.salvage(of: place.work, bit: bit) { throw Failure(wrong) }
                if reported < reports {
                    try report(place.work, place.pristine, bit, program)
                    reported += 1
                }
                try BitRotChild.restore(place.pristine, place.work)
                tally.withLock {
                    $0.crashes += 1
                    $0.counts.images += 1
                    $0.counts.salvages += 1
                }
                next = Int(counts.next) + 1
            }
        }
        tally.withLock { $0.reported += reported }
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
