import EventLog
import Foundation
import MeshLedger
import TestKit

/// Runs scenarios that make and replace files, compacting the log, or flushing and rebuilding views, under the shim, and opens what a crash at each
/// call may leave of the whole folder.
struct FolderImages {
    enum Kind: String, CaseIterable, Sendable {
        case compaction
        case views
        case keeping

        var calls: String {
            switch self {
            case .compaction: "appends and compactions"
            case .views: "appends, flushes and rebuilds of views"
            case .keeping: "erasures, a cut by retention, a restoration and a merge"
            }
        }
    }

    let kind: Kind
    let seed: UInt64
    let appends: Int
    /// Sampled images beside the whole one, for each call.
    let samples: Int
    let limit: Int

    func run(_ shim: FaultShim) async throws -> ImageTally {
        if kind == .keeping { return try await KeepImages(seed: seed, samples: samples, limit: limit).run(shim) }
        let place = FileManager.default.temporaryDirectory.path + "/meshledger-crash-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: place) }  // nothing depends on it
        try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
        let path = URL(fileURLWithPath: place).resolvingSymlinksInPath().path + "/ledger"
        if kind == .compaction {
            try await Scenario.makeBase(at: path, seed: seed)
        } else {
            try await ViewScenario.makeBase(at: path)
        }
        var folder = try CrashFolder(path)
        let file = place + "/trace"
        let verb = kind == .compaction ? ["scenario", "compacts=2"] : ["view-scenario"]
        let lines = Shared<[String]>([])
        let (end, errors) = try Child.run(
            Child.program, verb + ["path=\(path)", "seed=\(seed)", "appends=\(appends)"],
            environment: shim.environment(root: path, ["SHIM_TRACE": file, "SHIM_WHOLE": "1"])
        ) { line in lines.withLock { $0.append(line) } }
        guard end == .exited(0), lines.withLock({ $0.isEmpty }) else {
            throw Failure("\(kind) \(seed): \(end) \(lines.withLock { $0 }) \(errors)")
        }
        var checker = try await FolderChecker(path, kind)
        var generator = SeededGenerator(seed: seed &+ 5)
        var tally = ImageTally()
        tally.scenarios = 1
        var acknowledged: UInt64 = 0
        for (index, call) in try FolderTrace(file).calls.enumerated() where tally.images < limit {
            if case .acknowledged(let numbers) = call { acknowledged = try checker.last(of: numbers, acknowledged) }
            guard folder.apply(call) else { continue }
            tally.calls += 1
            for sample in 0...samples {
                let image = folder.image(isWhole: sample == 0, &generator)
                do {
                    try await checker.check(image, acknowledged, &tally)
                } catch {
                    throw Failure("\(kind) \(seed), call \(index), \(sample == 0 ? "all done" : "sample \(sample)"): \(error)")
                }
            }
        }
        return tally
    }
}

/// Opens images in a folder in memory.
struct FolderChecker {
    private let scratch: ScratchFolder
    private let path: String
    private let kind: FolderImages.Kind
    private let truth: [Event]
    /// Sequences by what acknowledgements name.
    private let numbers: [UInt64: UInt64]
    /// The digests of the views over so many events.
    private var digests: [UInt64: [String]] = [:]
    private static let views = Ledger.viewNames

    init(_ finished: String, _ kind: FolderImages.Kind) async throws {
        scratch = try ScratchFolder()
        path = scratch.path + "/ledger"
        self.kind = kind
        let log = try EventLog.open(at: finished, options: EventLogOptions(access: .readOnly))
        truth = try log.events(in: EventSequence(1)...log.head)
        await log.close()
        let pairs = truth.map { (kind == .compaction ? Scenario.number($0.payload) : $0.sequence.rawValue, $0.sequence.rawValue) }
        numbers = Dictionary(pairs) { first, _ in first }
    }

    /// The last event that is known to be stored.
    func last(of acknowledged: Set<UInt64>, _ before: UInt64) throws -> UInt64 {
        try acknowledged.reduce(before) { last, number in
            guard let sequence = numbers[number] else { throw Failure("\(number) was acknowledged, not stored") }
            return max(last, sequence)
        }
    }

    mutating func check(_ image: [String: [UInt8]?], _ acknowledged: UInt64, _ tally: inout ImageTally) async throws {
        try CrashFolder.store(image, at: path)
        tally.images += 1
        let log = try EventLog.open(at: path, options: EventLogOptions(access: .readOnly))
        let head = log.head.rawValue
        let events = try head == 0 ? [] : log.events(in: EventSequence(1)...log.head)
        if tally.images % 20 == 0 {
            tally.verified += 1
            let result = try log.verify()
            guard result.isIntact else { throw Failure("\(result.problems.prefix(3))") }
        }
        await log.close()
        guard head >= acknowledged else { throw Failure("event \(acknowledged) was acknowledged, the log ends at \(head)") }
        guard events[...] == truth.prefix(Int(head)) else { throw Failure("the events are not those that were appended") }
        if kind == .views {
            try await checkViews(head, &tally)
        } else if tally.images % 10 == 0 {
            let log = try EventLog.open(at: path)
            let sequence = try await log.append(NewEvent([1, 2, 3], encoding: .note, source: .log))
            if tally.images % 20 == 0 { _ = try await log.compact() }
            await log.close()
            guard sequence.rawValue == head + 1 else { throw Failure("the next event after \(head) is \(sequence)") }
            tally.continued += 1
        }
    }

    /// Views go on from what a crash left of them to the rows that a fold of all events makes.
    private mutating func checkViews(_ head: UInt64, _ tally: inout ImageTally) async throws {
        let found = try await foldedDigests()
        if digests[head] == nil {
            try FileManager.default.removeItem(atPath: path + "/views")
            digests[head] = try await foldedDigests()
        }
        guard digests[head] == found else { throw Failure("the views over \(head) events are not those of a full fold") }
        tally.continued += 1
    }

    private func foldedDigests() async throws -> [String] {
        let ledger = try await Ledger.open(at: path)
        try await ledger.catchUp()
        let digests = try Self.views.map { try ledger.maintenance.digest(of: $0) }
        try await ledger.close()
        return digests
    }
}
