import EventLog
import Foundation
import MeshLedger
import TestKit

/// One ledger, whose processes are killed again and again: a writer, commands that ask it for something or do it when it is gone, and readers.
struct KillHistory {
    /// Of one ledger.
    static let mostKills = 60
    /// What is appended before the first kill, and not sealed.
    private static let firstEvents: UInt32 = 3000

    private let seed: UInt64
    private let program: URL
    private let scratch: ScratchFolder
    private let path: String
    private var generator: SeededGenerator
    private var tally = KillTally()
    /// Payloads of appends that returned, by their sequence.
    private var acknowledged: [UInt64: [UInt8]] = [:]
    private var erased: Set<UInt64> = []
    /// Roots that were seen, by the number of events.
    private var roots: [UInt64: [UInt8]] = [:]

    init(seed: UInt64, _ program: URL) async throws {
        self.seed = seed
        self.program = program
        scratch = try ScratchFolder(onDisk: seed % 4 == 0)
        path = scratch.path + "/mesh.ledger"
        generator = SeededGenerator(seed: seed)
        var options = LedgerOptions()
        options.log.sealing.isAutomatic = false
        let ledger = try await Ledger.create(at: path, options: options)
        let source = try await ledger.log.source(named: "before")
        try await ledger.log.append(
            (0..<Self.firstEvents).map {
                NewEvent(KillWriter.envelope(task: 99, number: $0), encoding: .serviceEnvelope, source: source)
            })
        try await ledger.close()
    }

    mutating func run(kills: Int) async throws -> KillTally {
        tally.ledgers = 1
        var left = kills
        var round: UInt32 = 1
        do {
            while left > 0 {
                left -= try performRound(round, atMost: left)
                try checkLog(inFull: round % 8 == 0)
                if round % 16 == 0 { try await checkViews() }
                round += 1
            }
            try checkLog(inFull: true)
            try await checkViews()
        } catch {
            throw Failure("ledger \(seed), round \(round): \(error)")
        }
        tally.acknowledged = acknowledged.count
        tally.erased = erased.count
        return tally
    }

    /// Starts a writer and now and then others beside it, and kills them one after the other.
    /// - Returns: how many.
    private mutating func performRound(_ round: UInt32, atMost most: Int) throws -> Int {
        let start = round * 100_000
        let work = ["append", "rebuild", "compact", "erase"][Int.random(in: 0..<4, using: &generator)]
        let writer = try Victim(
            "writer", Child.program, ["kill9-writer", "path=\(path)", "start=\(start)", "work=\(work)"])
        // On a busy machine a delay from the start alone might never let an append return.
        if Bool.random(using: &generator) || round == 1 { writer.waitForLine() }
        var victims = [writer]
        if most > 1 && Int.random(in: 0..<3, using: &generator) == 0 {
            victims.append(try Victim("reader", Child.program, ["kill9-reader", "path=\(path)"]))
        }
        for _ in 0..<Int.random(in: 0...2, using: &generator) where victims.count < most { victims.append(try command()) }
        for victim in victims.shuffled(using: &generator) {
            let most: UInt32 = Int.random(in: 0..<4, using: &generator) == 0 ? 500_000 : 60_000
            usleep(UInt32.random(in: 0...most, using: &generator))
            try end(victim)
        }
        return victims.count
    }

    private mutating func command() throws -> Victim {
        let sequence = UInt64.random(in: 1...UInt64(Self.firstEvents), using: &generator)
        let commands = [
            ["seal"], ["compact"], ["rebuild"], ["erase", "--sequence", String(sequence), "--reason", "crash test", "--yes"],
        ]
        let words = commands[Int.random(in: 0..<commands.count, using: &generator)]
        return try Victim(words[0], program, words + ["--ledger", path])
    }

    private mutating func end(_ victim: Victim) throws {
        let (end, lines, errors) = try victim.kill()
        switch end {
        case .killed: tally.killed[victim.name, default: 0] += 1
        case .exited(let status):
            // A command may be done, or may have ended with an error since the writer is gone; a writer may come after a command that writes itself.
            let isCommand = victim.name != "writer" && victim.name != "reader"
            let isLate = victim.name == "writer" && errors.contains("has it open")
            guard isCommand || isLate, errors.split(separator: "\n").count <= (status == 0 ? 20 : 1) else {
                throw Failure("the \(victim.name) ended by itself with \(status): \(errors)")
            }
            if status != 0 && status != 75 && isCommand {
                say("a killed writer's \(victim.name) ended with \(status): \(errors)")
            }
            tally.ended[victim.name + (status == 0 ? "" : " with \(status)"), default: 0] += 1
        }
        guard victim.name == "writer" else { return }
        for line in lines {
            let words = line.split(separator: " ")
            if words.first == "erased", let sequence = UInt64(words[1]) {
                erased.insert(sequence)
            } else if words.count == 3, let sequence = UInt64(words[0]), let task = UInt32(words[1]),
                let number = UInt32(words[2])
            {
                guard acknowledged[sequence] == nil else { throw Failure("event \(sequence) was acknowledged twice") }
                acknowledged[sequence] = KillWriter.envelope(task: task, number: number)
            } else {
                throw Failure("the writer said \(line)")
            }
        }
    }

    /// Everything that was acknowledged is there, and nothing is missing between.
    private mutating func checkLog(inFull: Bool) throws {
        let log = try EventLog.open(at: path, options: EventLogOptions(access: .readOnly))
        var next: UInt64 = 1
        var found = 0
        var wrong: String?
        try log.withEvents(from: EventSequence(1)) { header, payload in
            let sequence = header.sequence.rawValue
            if sequence != next { wrong = "event \(sequence) comes where \(next) should" }
            next = sequence + 1
            if erased.contains(sequence) && !header.isErased && header.source != .log {
                wrong = "event \(sequence) was erased, and is there"
            }
            if let wanted = acknowledged[sequence] {
                found += 1
                if !isSame(payload, wanted) && !header.isErased { wrong = "event \(sequence) is not what was acknowledged" }
            }
            return wrong == nil
        }
        if let wrong { throw Failure(wrong) }
        guard found == acknowledged.count else {
            throw Failure("\(acknowledged.count - found) acknowledged events are lost; the log ends at \(next - 1)")
        }
        for (size, root) in roots where try log.root(size: EventSequence(size)) != root {
            throw Failure("the root over \(size) events has changed")
        }
        if roots.count < 40 { roots[next - 1] = try log.root(size: EventSequence(next - 1)) }
        tally.events = Int(next) - 1
        guard inFull else { return }
        // An erasure that was interrupted is reported until the next writer has finished it; checkViews is one.
        let problems = try log.verify().problems.filter { !$0.text.contains("is not finished") }
        guard problems.isEmpty else { throw Failure("\(problems.prefix(3))") }
        tally.verified += 1
    }

    /// A writer opens what is left, and its views are those that a fold of all events makes.
    private mutating func checkViews() async throws {
        let views = Ledger.viewNames
        let ledger = try await Ledger.open(at: path)
        try await ledger.catchUp()
        let digests = try views.map { try ledger.maintenance.digest(of: $0) }
        try await ledger.close()
        try FileManager.default.removeItem(atPath: path + "/views")
        let again = try await Ledger.open(at: path)
        try await again.catchUp()
        let folded = try views.map { try again.maintenance.digest(of: $0) }
        let problems = try again.log.verify().problems
        try await again.close()
        guard folded == digests else { throw Failure("the views are not those of a full fold: \(digests), \(folded)") }
        guard problems.isEmpty else { throw Failure("after a writer: \(problems.prefix(3))") }
        tally.folds += 1
    }
}
