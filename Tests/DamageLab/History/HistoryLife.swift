import EventLog
import Foundation
import Glibc
import MeshLedger
import Meshtastic
import TestKit

/// What one process does with a ledger of a history: it appends what is left, and flushes, reopens, seals, rebuilds, takes keys and other policies
/// in between, until it is killed or all events are there.
struct HistoryLife {
    private let path: String
    private let plan: HistoryPlan
    private var random: SeededGenerator
    private var ledger: Ledger
    private var policy: UInt64
    private(set) var steps = 0

    init(path: String, seed: UInt64, life: UInt64) async throws {
        self.path = path
        plan = HistoryPlan(seed: seed)
        random = SeededGenerator(seed: seed &* 7_919 &+ life)
        policy = UInt64.random(in: 1...3, using: &random)
        let options = plan.options(policy: policy, flushes: &random)
        ledger = try await life == 0 ? Ledger.create(at: path, options: options) : Ledger.open(at: path, options: options)
    }

    mutating func options() -> LedgerOptions { plan.options(policy: policy, flushes: &random) }

    /// - Parameter isMortal: whether it kills its process at a random moment.
    mutating func run(isMortal: Bool) async throws -> Ledger {
        let last = isMortal ? Int.random(in: 1...15, using: &random) : .max
        let source = try await ledger.log.source(named: HistoryPlan.source)
        guard source == SourceID(rawValue: 1) else { throw Failure("the only source is \(source)") }
        var next = Int(ledger.log.head.rawValue)
        try await settle(next)
        while next < plan.events.count {
            let count = min(plan.events.count - next, Int.random(in: 1...30, using: &random))
            _ = try await ledger.log.append(Array(plan.events[next..<next + count]))
            next += count
            if steps >= last { die(within: UInt32.random(in: 0...20_000, using: &random)) }
            try await settle(next)
            try await step(next)
        }
        return ledger
    }

    private mutating func step(_ next: Int) async throws {
        steps += 1
        switch Int.random(in: 0..<12, using: &random) {
        case 0, 1: try await ledger.flush()
        case 2: try await ledger.catchUp()
        case 3: try await reopen()
        case 4 where next < plan.settled:
            policy = UInt64.random(in: 1...3, using: &random)
            try await reopen()
        case 5 where next < plan.settled: try await ledger.keys.set(HistoryPlan.everyKey)
        case 6: try await ledger.maintenance.rebuild([Ledger.viewNames.randomElement(using: &random) ?? "nodes"])
        case 7: try await ledger.log.seal()
        default: break
        }
    }

    /// The policies and keys that the history ends with.
    private mutating func settle(_ next: Int) async throws {
        guard next >= plan.settled else { return }
        if policy != 0 {
            policy = 0
            try await reopen()
        }
        if ledger.keys.keyring != HistoryPlan.everyKey { try await ledger.keys.set(HistoryPlan.everyKey) }
    }

    private mutating func reopen() async throws {
        try await ledger.close()
        ledger = try await Ledger.open(at: path, options: options())
    }

    /// Lets the process end as a crash would, while it works.
    private func die(within microseconds: UInt32) {
        Thread.detachNewThread {
            usleep(microseconds)
            kill(getpid(), SIGKILL)
        }
    }
}

/// A life in a process of its own.
struct HistoryChild {
    private let path: String
    private let seed: UInt64
    private let life: UInt64

    init(_ options: Options) throws {
        path = try options.text("path")
        seed = UInt64(try options.number("seed", 0))
        life = UInt64(try options.number("life", 0))
    }

    func run() async throws {
        var one = try await HistoryLife(path: path, seed: seed, life: life)
        try await one.run(isMortal: true).close()
    }
}
