import EventLog
import Foundation
import Glibc
import MeshCrypto
import Synchronization
import TestKit

/// Runs scenarios under the shim and, for every call that changed the file, builds what a crash at that moment may have left: all that was
/// written by then, and samples of what may be missing or torn of what no sync had brought to the disk. Every image must open, hold all
/// that was acknowledged, and nothing but what the scenario appended, without a gap.
struct CrashImages {
    private let scenarios: Int
    private let appends: Int
    /// Sampled images beside the whole one, for each call.
    private let samples: Int
    private let seed: UInt64
    private let jobs: Int
    private let limit: Int
    /// What is replaced as a whole: scenarios of each kind.
    private let folders: Int

    init(_ options: Options) throws {
        scenarios = try options.number("scenarios", 2)
        appends = try options.number("appends", 12)
        samples = try options.number("samples", 4)
        seed = UInt64(try options.number("seed", 1))
        jobs = try options.number("jobs", 2)
        limit = try options.number("images", .max)
        folders = try options.number("folders", max(1, scenarios / 100))
    }

    func run() async throws {
        let scratch = try ScratchFolder()
        let shim = try FaultShim(in: scratch.path)
        let tally = Shared(ImageTally())
        let (limit, appends, samples, seed) = (limit, appends, samples, seed)
        try await inParallel(scenarios, jobs: jobs) { number in
            guard tally.withLock({ $0.images }) < limit else { return }
            let result = try await Self.scenario(seed &* 1_000_003 &+ UInt64(number), appends, samples, shim)
            tally.withLock { $0.add(result) }
        }
        for kind in FolderImages.Kind.allCases where folders > 0 { try await run(kind, shim) }
        let sums = tally.withLock { $0 }
        say(
            "\(sums.images) images of \(sums.scenarios) scenarios with \(sums.calls) calls: every one opened with all that was "
                + "acknowledged and no gap; \(sums.verified) verified in full, \(sums.continued) appended to")
        guard sums.images > 0 else { throw Failure("no image was made") }
    }

    private func run(_ kind: FolderImages.Kind, _ shim: FaultShim) async throws {
        let tally = Shared(ImageTally())
        let (appends, samples, seed, limit) = (appends, samples, seed, limit)
        try await inParallel(folders, jobs: jobs) { number in
            let images = FolderImages(
                kind: kind, seed: seed &* 1_000_003 &+ UInt64(number), appends: appends, samples: samples, limit: limit)
            let result = try await images.run(shim)
            tally.withLock { $0.add(result) }
        }
        let sums = tally.withLock { $0 }
        say(
            "\(sums.images) images of whole folders, of \(sums.scenarios) scenarios with \(sums.calls) calls of \(kind.calls): every one opened "
                + "with all that was acknowledged and no gap; \(sums.verified) verified in full, \(sums.continued) gone on with")
    }

    private static func scenario(_ seed: UInt64, _ appends: Int, _ samples: Int, _ shim: FaultShim) async throws -> ImageTally {
        let scratch = try ScratchFolder()
        let place = scratch.path
        let path = place + "/ledger"
        try await Scenario.makeBase(at: path, seed: seed)
        let base = try [UInt8](Data(contentsOf: URL(fileURLWithPath: path + "/log/1/data.mdb")))
        let file = place + "/trace"
        // Writers of files on a disk have a thread of their own: every other one here, too.
        let arguments = ["scenario", "path=\(path)", "seed=\(seed)", "appends=\(appends)", "disk=\(seed % 2)"]
        let lines = Shared<[String]>([])
        let (end, errors) = try Child.run(
            Child.program, arguments, environment: shim.environment(root: path, ["SHIM_TRACE": file])
        ) { line in lines.withLock { $0.append(line) } }
        guard end == .exited(0), lines.withLock({ $0.isEmpty }) else {
            throw Failure("scenario \(seed): \(end) \(lines.withLock { $0 }) \(errors)")
        }
        var checker = try await ImageChecker(path, seed: seed)
        return try await checker.check(base, Trace(file), samples: samples)
    }
}

struct ImageTally {
    var scenarios = 0
    var calls = 0
    var images = 0
    var verified = 0
    var continued = 0

    mutating func add(_ other: ImageTally) {
        scenarios += other.scenarios
        calls += other.calls
        images += other.images
        verified += other.verified
        continued += other.continued
    }
}

/// Builds the images of one trace, one after the other in one folder in memory, and opens them.
struct ImageChecker {
    private let scratch: ScratchFolder
    private let path: String
    private let seed: UInt64
    private let truth: [Event]
    private let numbers: [UInt64: Int]
    private var generator: SeededGenerator
    private var tally = ImageTally()
    private let file: Int32
    /// What the file has.
    private var stored: [UInt8] = []
    /// Images of one call, which are looked at once.
    private var seen: Set<[UInt64]> = []

    init(_ finished: String, seed: UInt64) async throws {
        scratch = try ScratchFolder()
        path = scratch.path + "/ledger"
        self.seed = seed
        generator = SeededGenerator(seed: seed &+ 5)
        let log = try EventLog.open(at: finished, options: EventLogOptions(access: .readOnly))
        truth = try log.events(in: EventSequence(1)...log.head)
        await log.close()
        numbers = Dictionary(uniqueKeysWithValues: truth.enumerated().map { (Scenario.number($1.payload), $0 + 1) })
        try FileManager.default.copyItem(atPath: finished, toPath: path)
        file = unsafe open(path + "/log/1/data.mdb", O_RDWR | O_CLOEXEC)
        guard file >= 0 else { throw Failure("no image file") }
    }

    /// A write that a crash may lose.
    private struct Pending {
        let offset: Int
        let bytes: ArraySlice<UInt8>
    }

    mutating func check(_ base: [UInt8], _ trace: Trace, samples: Int) async throws -> ImageTally {
        defer { close(file) }
        var durable = base
        var pending: [Pending] = []
        var acknowledged = 0
        tally.scenarios = 1
        for (index, call) in trace.calls.enumerated() {
            switch call {
            case .write(let offset, let bytes, let isSynced):
                pending.append(Pending(offset: offset, bytes: bytes))
                tally.calls += 1
                try await images(durable, pending, acknowledged, samples, call: index)
                if isSynced {
                    let write = pending.removeLast()
                    Self.apply(write.bytes, at: write.offset, to: &durable)
                }
            case .sync:
                for write in pending { Self.apply(write.bytes, at: write.offset, to: &durable) }
                pending = []
                tally.calls += 1
            case .truncate(let length):
                if length < durable.count { durable.removeSubrange(length...) } else { Self.grow(&durable, length) }
            case .allocate(let end): Self.grow(&durable, end)
            case .acknowledged(let stored):
                for number in stored {
                    guard let sequence = numbers[number] else {
                        throw Failure("scenario \(seed): \(number) was acknowledged, not stored")
                    }
                    acknowledged = max(acknowledged, sequence)
                }
                try await images(durable, pending, acknowledged, 1, call: index)
            }
        }
        return tally
    }

    private mutating func images(
        _ durable: [UInt8], _ pending: [Pending], _ acknowledged: Int, _ samples: Int, call: Int
    ) async throws {
        seen = []
        var whole = durable
        for write in pending { Self.apply(write.bytes, at: write.offset, to: &whole) }
        try await check(whole, acknowledged, "call \(call), all written")
        guard !pending.isEmpty else { return }
        for sample in 0..<samples {
            var image = durable
            let chance = Double([0.5, 0.9, 0.1][sample % 3])
            for (place, write) in pending.enumerated() {
                let isLast = place == pending.count - 1
                // The first sample tears the last write alone.
                if sample == 0 && !isLast {
                    Self.apply(write.bytes, at: write.offset, to: &image)
                } else if sample == 0
                    || Double.random(in: 0..<1, using: &generator) < chance
                {
                    tear(write, chance, &image)
                }
            }
            try await check(image, acknowledged, "call \(call), sample \(sample)")
        }
    }

    /// Writes some of its sectors of 512 bytes.
    private mutating func tear(_ write: Pending, _ chance: Double, _ image: inout [UInt8]) {
        let tears = Bool.random(using: &generator)
        var offset = write.offset
        var bytes = write.bytes
        while !bytes.isEmpty {
            let count = min(512 - offset % 512, bytes.count)
            if !tears || Bool.random(using: &generator) { Self.apply(bytes.prefix(count), at: offset, to: &image) }
            bytes = bytes.dropFirst(count)
            offset += count
        }
    }

    private static func grow(_ image: inout [UInt8], _ length: Int) {
        if image.count < length { image += [UInt8](repeating: 0, count: length - image.count) }
    }

    private static func apply(_ bytes: ArraySlice<UInt8>, at offset: Int, to image: inout [UInt8]) {
        grow(&image, offset + bytes.count)
        image.replaceSubrange(offset..<offset + bytes.count, with: bytes)
    }

    private mutating func check(_ image: [UInt8], _ acknowledged: Int, _ what: String) async throws {
        let hash = XXH3.hash(image)
        guard seen.insert([hash, UInt64(image.count)]).inserted else { return }
        try store(image)
        tally.images += 1
        let log: EventLog
        do throws(EventLogError) {
            log = try EventLog.open(at: path, options: EventLogOptions(access: .readOnly))
        } catch {
            throw Failure("scenario \(seed), \(what): \(error)")
        }
        let fault = try read(log, acknowledged)
        if tally.images % 20 == 0 {
            tally.verified += 1
            let result = try log.verify()
            if !result.isIntact { throw Failure("scenario \(seed), \(what): \(result.problems.prefix(3))") }
        }
        let head = log.head
        await log.close()
        if let fault { throw Failure("scenario \(seed), \(what): \(fault)") }
        guard tally.images % 50 == 0 else { return }
        stored = []
        try await goOn(head, what)
    }

    private func read(_ log: EventLog, _ acknowledged: Int) throws -> String? {
        guard log.head.rawValue >= UInt64(acknowledged) else {
            return "event \(acknowledged) was acknowledged, the log ends at \(log.head)"
        }
        var expected = 1
        var fault: String?
        try log.withEvents(from: EventSequence(1)) { header, payload in
            guard header.sequence.rawValue == UInt64(expected), expected <= truth.count else {
                fault = "event \(header.sequence) comes where \(expected) should"
                return false
            }
            let event = truth[expected - 1]
            if event.header != header || !isSame(payload, event.payload) { fault = "event \(expected) is not what was appended" }
            expected += 1
            return fault == nil
        }
        if fault == nil && UInt64(expected - 1) != log.head.rawValue {
            fault = "the log ends at \(expected - 1), not at \(log.head)"
        }
        return fault
    }

    /// A writer opens the image and goes on.
    private mutating func goOn(_ head: EventSequence, _ what: String) async throws {
        do throws(EventLogError) {
            let log = try EventLog.open(at: path)
            let sequence = try await log.append(NewEvent([1, 2, 3], encoding: .note, source: .log))
            await log.close()
            guard sequence == head.advanced(by: 1) else { throw EventLogError(.corrupt, path: path, detail: "\(sequence)") }
            tally.continued += 1
        } catch {
            throw Failure("scenario \(seed), \(what), going on: \(error)")
        }
    }

    /// Writes what differs from the image before.
    private mutating func store(_ image: [UInt8]) throws {
        if stored.count != image.count, ftruncate(file, off_t(image.count)) != 0 {
            throw Failure("the image could not be stored")
        }
        let (known, total) = (stored.count, image.count)
        let isDone = unsafe image.withUnsafeBytes { (bytes) -> Bool in
            unsafe stored.withUnsafeBytes { (old) -> Bool in
                var place = 0
                while place < total {
                    let count = min(512, total - place)
                    let part = unsafe bytes.baseAddress! + place
                    if unsafe place + count > known || memcmp(part, old.baseAddress! + place, count) != 0 {
                        guard unsafe pwrite(file, part, count, off_t(place)) == count else { return false }
                    }
                    place += count
                }
                return true
            }
        }
        guard isDone else { throw Failure("the image could not be stored") }
        stored = image
    }
}
