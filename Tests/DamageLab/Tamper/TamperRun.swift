import EventLog
import Foundation
import LogTransfer
import TestKit

/// Tampers with ledgers in each of the ways, as somebody who can write all their files but has no signing key, and lets `verify` compare them with
/// a checkpoint that was kept elsewhere: it must find every one, and must pass the same ledger when it was rewritten without a change.
struct TamperRun {
    private let count: Int
    private let seed: UInt64
    private let jobs: Int
    /// Tamperings with one ledger before another is made.
    private static let perLedger = 50

    init(_ options: Options) throws {
        count = try options.number("count", 200)
        seed = UInt64(try options.number("seed", 1))
        jobs = try options.number("jobs", 2)
    }

    private struct Tally: Sendable {
        var found: [Tampering: Int] = [:]
        var passed = 0
        var backups = 0
        var changedBackups = 0
        var merged = 0
    }

    func run() async throws {
        let tally = Shared(Tally())
        let rounds = (count + Self.perLedger - 1) / Self.perLedger
        let (count, seed) = (count, seed)
        try await inParallel(rounds, jobs: jobs) { round in
            let first = round * Self.perLedger
            try await Self.round(first..<min(first + Self.perLedger, count), seed &* 1_000_003 &+ UInt64(round), tally)
        }
        let sums = tally.withLock { $0 }
        let kinds = Tampering.allCases.map { "\($0.rawValue) \(sums.found[$0] ?? 0)" }.joined(separator: ", ")
        let total = sums.found.values.reduce(0, +)
        say(
            "\(total) tamperings, all found: \(kinds); \(sums.merged) of these with merged ledgers; \(sums.backups) also found in what was restored from a backup; "
                + "\(sums.changedBackups) backups with changed files, none restored as anything but the truth; \(sums.passed) times the untouched ledger passed"
        )
        guard total == count, count < 100 || sums.found.count == Tampering.allCases.count else {
            throw Failure("only \(total) of \(count) tamperings of \(sums.found.count) kinds were done")
        }
    }

    private static func round(_ numbers: Range<Int>, _ own: UInt64, _ tally: Shared<Tally>) async throws {
        var generator = SeededGenerator(seed: own)
        let ledger = try await TamperedLedger(seed: own)
        for number in numbers {
            let kind = Tampering.allCases[number % Tampering.allCases.count]
            try await ledger.expectPass("seed \(own)")
            var isDone = false
            while !isDone { isDone = try await ledger.tamper(kind, &generator, "seed \(own), number \(number)") }
            let isBackedUp = number % 5 == 0 && kind.reachesBackups
            if isBackedUp { try await ledger.expectFoundInBackup("seed \(own), number \(number): \(kind)") }
            tally.withLock {
                $0.found[kind, default: 0] += 1
                $0.passed += 1
                $0.backups += isBackedUp ? 1 : 0
                $0.merged += ledger.isMerged ? 1 : 0
            }
        }
        for _ in 0..<max(numbers.count / 5, 1) {
            try await ledger.changeBackup(&generator, "seed \(own)")
            tally.withLock { $0.changedBackups += 1 }
        }
    }
}

/// A ledger, what its owner keeps elsewhere, and what an attacker has of it.
struct TamperedLedger {
    let scratch: ScratchFolder
    let path: String
    /// Whether it was merged from others.
    let isMerged: Bool
    /// What the owner's ledger says of each event.
    let truth: [Event]
    private let log: ForgedLog
    private let old: ForgedLog
    private let other: ForgedLog
    private let note: SignedNote
    private let verifier: NoteVerifier
    private let size: Int

    init(seed: UInt64) async throws {
        var generator = SeededGenerator(seed: seed &+ 3)
        scratch = try ScratchFolder()
        path = scratch.path + "/ledger"
        isMerged = seed % 3 == 0
        var log = try await isMerged ? Self.merge(in: scratch.path, at: path, &generator) : Self.make(at: path, &generator)
        try await Self.fill(log, Int.random(in: 200..<900, using: &generator), &generator)
        if Bool.random(using: &generator) { try await log.seal() }
        try await Self.erase(log, &generator)
        await log.close()
        old = try ForgedLog(path)
        try FileManager.default.copyItem(atPath: path, toPath: scratch.path + "/earlier")
        log = try EventLog.open(at: path, options: Self.options)
        try await Self.fill(log, Int.random(in: 100..<900, using: &generator), &generator)
        size = Int(log.head.rawValue)
        note = try log.checkpoint(namesSources: true)
        verifier = try log.verifier()
        if Bool.random(using: &generator) { try await log.seal() }
        try await Self.fill(log, Int.random(in: 0..<400, using: &generator), &generator)
        try await Self.erase(log, &generator)
        try await log.seal()
        truth = try log.events(in: EventSequence(1)...log.head)
        try log.backup(to: scratch.path + "/backup")
        await log.close()
        self.log = try ForgedLog(path)
        let stranger = scratch.path + "/other"
        let second = try await Self.make(at: stranger, &generator)
        try await Self.fill(second, 2200, &generator)
        await second.close()
        other = try ForgedLog(stranger)
    }

    static var options: EventLogOptions {
        var options = EventLogOptions()
        options.sealing.isAutomatic = false
        options.summariser = LogModel.summariser
        return options
    }

    private static func make(at path: String, _ generator: inout SeededGenerator) async throws -> EventLog {
        let log = try EventLog.create(at: path, options: options)
        for number in 0..<Int.random(in: 2..<6, using: &generator) { _ = try await log.source(named: "radio \(number)") }
        return log
    }

    private static func merge(in folder: String, at path: String, _ generator: inout SeededGenerator) async throws -> EventLog {
        var inputs: [EventLog] = []
        for name in ["one", "two"] {
            let log = try await make(at: folder + "/" + name, &generator)
            try await fill(log, Int.random(in: 50..<400, using: &generator), &generator)
            try await erase(log, &generator)
            inputs.append(log)
        }
        _ = try await EventLog.merge(inputs, into: path, options: options)
        for log in inputs { await log.close() }
        return try EventLog.open(at: path, options: options)
    }

    /// What the owner erased, before the checkpoint or after it.
    private static func erase(_ log: EventLog, _ generator: inout SeededGenerator) async throws {
        guard Bool.random(using: &generator) else { return }
        let candidates = try log.events(in: EventSequence(1)...log.head).filter { $0.header.source != .log }
        guard let first = candidates.randomElement(using: &generator)?.sequence else { return }
        try await log.erase([first...first], reason: "asked for")
    }

    private static func fill(_ log: EventLog, _ count: Int, _ generator: inout SeededGenerator) async throws {
        let events = (0..<count).map { _ in
            NewEvent(
                generator.bytes(Int.random(in: 1..<120, using: &generator)), encoding: .note,
                source: SourceID(rawValue: UInt32.random(in: 0..<3, using: &generator)),
                reception: [.live, .unrecorded, .recorded(.now)].randomElement(using: &generator)!)
        }
        try await log.append(events)
    }

    /// The ledger rewritten as it was must pass.
    func expectPass(_ what: String) async throws {
        try log.write(to: path)
        let problems = try await problems(with: true)
        guard problems.isEmpty else { throw Failure("\(what): the untouched ledger does not pass: \(problems.prefix(3))") }
    }

    /// - Returns: false where the tampering changed nothing.
    func tamper(_ kind: Tampering, _ generator: inout SeededGenerator, _ what: String) async throws -> Bool {
        var forged = log
        guard kind.apply(to: &forged, size: size, old: old, other: other, &generator) else { return false }
        try forged.write(to: path)
        guard try await !problems(with: true).isEmpty else { throw Failure("\(what): \(kind) is not found") }
        let alone = try await problems(with: false)
        // Where events come from is stored beside them.
        if isMerged { return true }
        // What the owner erased, other changes move to where nobody erased anything.
        let isPlain = !log.records.contains { $0[ForgedLog.flags] & ForgedLog.erased != 0 }
        guard alone.isEmpty == kind.isConsistent || (kind.isConsistent && !isPlain) else {
            throw Failure("\(what): \(kind) leaves a log that is not what it should look like: \(alone.prefix(3))")
        }
        return true
    }

    /// What a check of the log finds, as its owner makes it: with the note and the public key that were kept elsewhere, or without them.
    private func problems(with checkpoint: Bool) async throws -> [String] { try await problems(of: path, with: checkpoint) }

    func problems(of path: String, with checkpoint: Bool) async throws -> [String] {
        guard note.isSigned(by: verifier), let kept = LogCheckpoint(note) else { throw Failure("the note is not signed") }
        var options = Self.options
        options.access = .readOnly
        let log: EventLog
        do throws(EventLogError) {
            log = try EventLog.open(at: path, options: options)
        } catch {
            return ["\(error)"]
        }
        let result = try log.verify(extending: checkpoint ? kept : nil, signedBy: checkpoint ? verifier : nil)
        await log.close()
        return result.problems.map(\.description)
    }
}
