import EventLog
import Foundation
import Glibc
import Synchronization
import TestKit

/// Flips every bit of a small ledger's file, or a sample of them, one at a time. No image may give a wrong record or hang anybody; a crash
/// of the store is allowed to the child that reads, never to `meshledger verify`; a salvage saves all records whose bytes were not touched.
struct BitRot {
    private let bytes: Int
    /// The first bit where they are flipped in turn; nil where they are drawn.
    private let first: Int?
    /// How many bits, 0 for all.
    private let bits: Int
    private let seed: UInt64
    /// How many of the images that crashed a reader `meshledger verify` has to report.
    private let reports: Int
    /// Of the images that anything may follow from, one in so many is salvaged, too.
    private let salvages: Int
    private let jobs: Int
    private let program: URL
    /// The ledger to take, which is made where it is missing; so all bits of one can be flipped in several runs.
    private let ledger: String

    init(_ options: Options) throws {
        bytes = try options.number("bytes", 1 << 20)
        bits = try options.number("bits", 2000)
        first = try options.number("first", -1) >= 0 ? options.number("first", 0) : bits == 0 ? 0 : nil
        seed = UInt64(try options.number("seed", 1))
        reports = try options.number("reports", 20)
        salvages = max(try options.number("salvages", 1), 1)
        jobs = try options.number("jobs", 2)
        let beside = Child.program.deletingLastPathComponent().appendingPathComponent("meshledger").path
        program = URL(fileURLWithPath: options.text("program", beside))
        ledger = options.text("ledger", "")
    }

    func run() async throws {
        let scratch = try ScratchFolder()
        let pristine = ledger.isEmpty ? scratch.path + "/pristine" : ledger
        if !FileManager.default.fileExists(atPath: pristine) { try await Self.makeLedger(at: pristine, bytes: bytes, seed: seed) }
        let file = pristine + "/log/1/data.mdb"
        let size = try FileManager.default.attributesOfItem(atPath: file)[.size] as? Int ?? 0
        let total = size * 8
        let start = min(first ?? 0, total)
        let wanted = bits == 0 ? total - start : min(bits, total - start)
        let tally = Mutex(Tally())
        let failure = Mutex<(any Error)?>(nil)
        let (jobs, reports) = (jobs, reports)
        let choice = BitChoice(total: total, seed: first == nil ? seed : nil)
        let begun = ContinuousClock.now
        let (program, salvages) = (program, salvages)
        DispatchQueue.concurrentPerform(iterations: jobs) { job in
            do {
                let place = Place(
                    pristine: pristine, work: scratch.path + "/work\(job)", progress: scratch.path + "/progress\(job)")
                try FileManager.default.copyItem(atPath: pristine, toPath: place.work)
                let range = start + wanted * job / jobs..<start + wanted * (job + 1) / jobs
                try Self.run(range, choice, place, program, salvages: salvages, reports: reports / jobs, tally)
            } catch {
                failure.withLock { $0 = error }
            }
        }
        let sums = tally.withLock { $0 }
        let seconds = Double((ContinuousClock.now - begun).components.seconds) + 1
        let which = first == nil ? "" : ", bits \(start) to \(start + wanted - 1) of \(total) in turn"
        say(
            "\(sums.counts.images) images of \(size) bytes\(which): \(sums.counts.whole) read as they were, \(sums.counts.refused) refused at open, "
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
        _ range: Range<Int>, _ choice: BitChoice, _ place: Place, _ program: URL, salvages: Int, reports: Int,
        _ tally: borrowing Mutex<Tally>
    ) throws {
        let wrong = Mutex<[String]>([])
        let counted = Mutex(Tally())
        var arguments = [
            "bitrot-child", "pristine=\(place.pristine)", "work=\(place.work)", "progress=\(place.progress)",
            "first=\(range.lowerBound)",
            "end=\(range.upperBound)", "total=\(choice.total)", "reports=\(reports)", "salvages=\(salvages)",
        ]
        if let seed = choice.seed { arguments.append("seed=\(seed)") }
        let (end, errors) = try Child.run(Child.program, arguments, patience: 90) { line in
            let words = line.split(separator: " ").map(String.init)
            switch words.first {
            case "crashes": counted.withLock { $0.crashes = Int(words[1]) ?? 0 }
            case "counts": counted.withLock { $0.counts = BitCounts(words.dropFirst().compactMap { UInt64($0) }) }
            case "report":
                do {
                    try report(words[2], bit: words[1], program)
                    counted.withLock { $0.reported += 1 }
                } catch {
                    wrong.withLock { $0.append("\(error)") }
                }
            case "wrong": wrong.withLock { $0.append(line) }
            default: break
            }
        }
        let result = counted.withLock { $0 }
        tally.withLock {
            $0.counts.add(result.counts)
            $0.crashes += result.crashes
            $0.reported += result.reported
        }
        let lines = wrong.withLock { $0 }
        guard lines.isEmpty else { throw Failure(lines.joined(separator: "\n")) }
        guard end == .exited(0) else { throw Failure("the reader ended with \(end): \(errors)") }
    }

    /// A copy of an image that crashed its reader.
    private static func report(_ copy: String, bit: String, _ program: URL) throws {
        defer { try? FileManager.default.removeItem(atPath: copy) }  // nothing depends on it
        let (end, errors) = try Child.run(program, ["verify", "--ledger", copy], patience: 60) { _ in }
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
