import EventLog
import Foundation
import Glibc
import TestKit

/// A writer's life under the shim: opens a ledger, appends in batches of all sizes, alone and from several tasks, seals, compacts, closes.
///
/// Each event's payload begins with a number that is its own. When an append has returned, the numbers of its events go to the file `acks`.
struct Scenario {
    private let path: String
    private let seed: UInt64
    private let appends: Int
    private let start: UInt64
    /// Whether the log is compacted now and then, which writes files of other names.
    private let compacts: Bool
    /// Whether it is compacted at least once.
    private let alwaysCompacts: Bool
    private let options: EventLogOptions

    init(_ options: Options) throws {
        path = try options.text("path")
        seed = UInt64(try options.number("seed", 1))
        appends = try options.number("appends", 12)
        start = UInt64(try options.number("start", 1_000_000))
        compacts = try options.number("compacts", 0) > 0
        alwaysCompacts = try options.number("compacts", 0) > 1
        self.options = try Self.logOptions(options)
    }

    /// With `disk=1` a writer works as it does on a disk, wherever the file is.
    static func logOptions(_ options: Options) throws -> EventLogOptions {
        var log = EventLogOptions()
        if try options.number("disk", 0) > 0 { log.isInMemory = false }
        return log
    }

    /// Prints `failed CODE` for each append that was refused, and goes on with the next.
    func run() async throws {
        let acks = unsafe Glibc.open(path + "/acks", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard acks >= 0 else { throw Failure("no acks") }
        var generator = SeededGenerator(seed: seed)
        var log = try? open()  // reported below
        var next = start
        for place in 0..<appends {
            guard let current = log else {
                say("failed open")
                log = try? open()  // the next append tries again
                continue
            }
            if alwaysCompacts && place == appends / 2 { await compact(current) }
            let outcome = await step(current, &generator, &next, acks)
            if outcome || current.areWritesClosed {
                await current.close()
                log = try? open()  // reported above
            }
        }
        await log?.close()
    }

    private func compact(_ log: EventLog) async {
        do throws(EventLogError) { _ = try await log.compact() } catch { say("failed compact: \(error.code)") }
    }

    private func open() throws -> EventLog {
        do {
            return try EventLog.open(at: path, options: options)
        } catch {
            say("failed open: \(error)")
            throw error
        }
    }

    /// - Returns: whether the log is to be reopened.
    private func step(
        _ log: EventLog, _ generator: inout SeededGenerator, _ next: inout UInt64, _ acks: Int32
    ) async -> Bool {
        switch Int.random(in: 0..<12, using: &generator) {
        case 0,
            1 where compacts:
            if compacts && Bool.random(using: &generator) {
                await compact(log)
            } else {
                do throws(EventLogError) { try await log.seal() } catch { say("failed seal: \(error.code)") }
            }
            return false
        case 1:
            return true
        case 2, 3, 4:
            let events = (0..<8).map { (next + $0, Self.event(next + $0, &generator, largest: 300)) }
            next += 8
            await withTaskGroup(of: Void.self) { group in
                for (number, event) in events {
                    group.addTask { await Self.append(log, [event], [number], acks) }
                }
            }
        default:
            let count = UInt64([1, 1, 3, 40, 300][Int.random(in: 0..<5, using: &generator)])
            let events = (0..<count).map { Self.event(next + $0, &generator, largest: count == 1 ? 9000 : 300) }
            let numbers = Array(next..<next + count)
            next += count
            await Self.append(log, events, numbers, acks)
        }
        return false
    }

    /// A failed append whose outcome is unknown is left so: it may or may not be there afterwards.
    private static func append(_ log: EventLog, _ events: [NewEvent], _ numbers: [UInt64], _ acks: Int32) async {
        do throws(EventLogError) {
            try await log.append(events)
        } catch {
            return say("failed append: \(error.code)")
        }
        let text = Array((numbers.map { String($0) }.joined(separator: "\n") + "\n").utf8)
        _ = unsafe text.withUnsafeBytes { unsafe write(acks, $0.baseAddress, $0.count) }
    }

    static func event(_ number: UInt64, _ generator: inout SeededGenerator, largest: Int) -> NewEvent {
        let bytes = (0..<8).map { UInt8(truncatingIfNeeded: number >> (8 * UInt64($0))) }
        return NewEvent(
            bytes + generator.bytes(Int.random(in: 0..<largest, using: &generator)), encoding: .note, source: .log)
    }

    static func number(_ payload: [UInt8]) -> UInt64 {
        payload.count < 8 ? 0 : (0..<8).reduce(0) { $0 | UInt64(payload[$1]) << (8 * UInt64($1)) }
    }

    /// The ledger that a scenario begins with: with sealed events and others.
    static func makeBase(at path: String, seed: UInt64) async throws {
        var generator = SeededGenerator(seed: seed &+ 77)
        let log = try EventLog.create(at: path)
        var number: UInt64 = 1
        for round in 0..<6 {
            let count = UInt64(Int.random(in: 20..<200, using: &generator))
            try await log.append((0..<count).map { event(number + $0, &generator, largest: 100) })
            number += count
            if round == 3 { try await log.seal() }
        }
        await log.close()
    }
}
