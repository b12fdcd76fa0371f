import EventLog
import Foundation
import Glibc
import MeshLedger
import TestKit

/// A life under the shim of a ledger whose events are erased and dropped, of its restored backup, and of what it is merged into.
///
/// The folder `path` has `ledger`, `other` and `backup` when it begins, and gets `restored` and `merged`. Each event of a radio begins with a number that is its
/// own. What is done is reported in the file `acks`.
struct KeepScenario {
    /// How much is reported, as a number each.
    enum Told: Equatable {
        /// The event with the number is stored.
        case stored(UInt64)
        case erased(UInt64)
        case cut(UInt64)
        case restored
        case merged

        private static let unit: UInt64 = 1_000_000_000

        var number: UInt64 {
            switch self {
            case .stored(let number): number
            case .erased(let sequence): Self.unit + sequence
            case .cut(let last): 2 * Self.unit + last
            case .restored: 3 * Self.unit
            case .merged: 4 * Self.unit
            }
        }

        init(_ number: UInt64) {
            switch number / Self.unit {
            case 0: self = .stored(number)
            case 1: self = .erased(number % Self.unit)
            case 2: self = .cut(number % Self.unit)
            case 3: self = .restored
            default: self = .merged
            }
        }
    }

    /// Of the events that a ledger begins with, which are sealed but for the last ones.
    static let baseCount: UInt64 = 700
    static let cut: UInt64 = 256

    private let path: String
    private let seed: UInt64
    private let appends: Int
    private let options: EventLogOptions

    init(_ options: Options) throws {
        self.options = try Scenario.logOptions(options)
        path = try options.text("path")
        seed = UInt64(try options.number("seed", 1))
        appends = try options.number("appends", 4)
    }

    /// Prints `failed …` for each step that was refused, and goes on with the next.
    func run() async throws {
        let acks = unsafe Glibc.open(path + "/acks", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard acks >= 0 else { throw Failure("no acks") }
        func tell(_ all: [Told]) {
            let text = Array(all.map { "\($0.number)\n" }.joined().utf8)
            _ = unsafe text.withUnsafeBytes { unsafe write(acks, $0.baseAddress, $0.count) }
        }
        var generator = SeededGenerator(seed: seed)
        var next: UInt64 = 100_000
        for round in 0..<3 {
            let log: EventLog
            do throws(EventLogError) {
                log = try EventLog.open(at: path + "/ledger", options: options)
            } catch {
                say("failed open: \(error.code)")
                continue
            }
            for _ in 0..<appends {
                let count = UInt64([1, 5, 60][Int.random(in: 0..<3, using: &generator)])
                let events = (next..<next + count).map { Self.event($0, &generator) }
                do throws(EventLogError) {
                    try await log.append(events)
                    tell((next..<next + count).map { .stored($0) })
                } catch {
                    say("failed append: \(error.code)")
                }
                next += count
            }
            do throws(EventLogError) {
                if round == 1 {
                    _ = try await log.cut(through: EventSequence(Self.cut))
                    tell([.cut(Self.cut)])
                } else {
                    let first = UInt64.random(in: Self.cut + 1...Self.baseCount - 5, using: &generator)
                    let last = first + UInt64.random(in: 0..<5, using: &generator)
                    try await log.erase([EventSequence(first)...EventSequence(last)], reason: "crash test")
                    tell((first...last).map { .erased($0) })
                }
            } catch {
                say("failed \(round == 1 ? "cut" : "erase"): \(error.code)")
            }
            await log.close()
        }
        await copy(tell)
    }

    private func copy(_ tell: ([Told]) -> Void) async {
        do throws(EventLogError) {
            _ = try await EventLog.restore(path + "/backup", to: path + "/restored")
            tell([.restored])
        } catch {
            say("failed restore: \(error.code)")
        }
        do throws(EventLogError) {
            let readOnly = EventLogOptions(access: .readOnly)
            let (restored, other) = (
                try EventLog.open(at: path + "/restored", options: readOnly),
                try EventLog.open(at: path + "/other", options: readOnly)
            )
            _ = try await EventLog.merge([restored, other], into: path + "/merged")
            tell([.merged])
            await restored.close()
            await other.close()
        } catch {
            say("failed merge: \(error.code)")
        }
    }

    private static func event(_ number: UInt64, _ generator: inout SeededGenerator) -> NewEvent {
        let bytes = (0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * UInt64($0))) }
        return NewEvent(
            bytes + generator.bytes(Int.random(in: 24..<200, using: &generator)), encoding: .serviceEnvelope,
            source: SourceID(rawValue: 1))
    }

    static func makeBase(at path: String, seed: UInt64) async throws {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        var generator = SeededGenerator(seed: seed &+ 77)
        for (name, start) in [("ledger", 1 as UInt64), ("other", 50_000)] {
            let log = try EventLog.create(at: path + "/" + name)
            _ = try await log.source(named: "radio of \(name)")
            try await log.append((start..<start + Self.baseCount).map { event($0, &generator) })
            if name == "ledger" {
                try await log.seal()
                try log.backup(to: path + "/backup")
            }
            await log.close()
        }
    }
}
