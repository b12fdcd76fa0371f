import EventLog
import Foundation
import TestKit

/// Looks at what a crash or a failed call has left of the folder of a `KeepScenario`.
struct KeepChecker {
    /// What the ledgers of the folder have, by the number of each event.
    private let payloads: [UInt64: [UInt8]]
    private let restoredRoot: [UInt8]

    /// - Parameter base: the folder as the scenario begins with it.
    init(_ base: String) async throws {
        var payloads: [UInt64: [UInt8]] = [:]
        var root: [UInt8] = []
        for name in ["ledger", "other"] {
            let log = try EventLog.open(at: "\(base)/\(name)", options: EventLogOptions(access: .readOnly))
            for event in try log.events(in: EventSequence(1)...log.head) {
                payloads[Scenario.number(event.payload)] = event.payload
            }
            if name == "ledger" { root = try log.root(size: log.head) }
            await log.close()
        }
        self.payloads = payloads
        restoredRoot = root
    }

    /// What a reader finds: nothing that was reported is missing, nothing is there that was reported to be erased or dropped.
    func read(_ folder: String, _ facts: [KeepScenario.Told]) async throws {
        let log = try EventLog.open(at: folder + "/ledger", options: EventLogOptions(access: .readOnly))
        let first = log.first.rawValue
        var stored: Set<UInt64> = []
        var erased: Set<UInt64> = []
        var next = first
        for event in try log.events(in: log.first...log.head) {
            guard event.sequence.rawValue == next else { throw Failure("event \(event.sequence) comes where \(next) should") }
            next += 1
            if event.header.isErased { erased.insert(event.sequence.rawValue) }
            guard event.header.source != .log, !event.header.isErased else { continue }
            let number = Scenario.number(event.payload)
            guard stored.insert(number).inserted else { throw Failure("the event with the number \(number) is there twice") }
            if let known = payloads[number], known != event.payload {
                throw Failure("event \(event.sequence) is not what was appended")
            }
        }
        await log.close()
        guard first == 1 || first == KeepScenario.cut + 1 else { throw Failure("the log begins with \(first)") }
        guard next > KeepScenario.baseCount else { throw Failure("the log ends at \(next - 1)") }
        for fact in facts {
            switch fact {
            case .stored(let number): if !stored.contains(number) { throw Failure("\(number) was stored, and is not there") }
            case .erased(let sequence):
                if !erased.contains(sequence) { throw Failure("event \(sequence) was erased, and is there") }
            case .cut(let last): if first != last + 1 { throw Failure("events up to \(last) were dropped, and are there") }
            case .restored, .merged: break
            }
        }
        for (name, fact) in [("restored", KeepScenario.Told.restored), ("merged", .merged)] {
            let path = "\(folder)/\(name)"
            guard FileManager.default.fileExists(atPath: path) else {
                if facts.contains(fact) { throw Failure("\(name) was made, and is not there") }
                continue
            }
            let copy = try EventLog.open(at: path, options: EventLogOptions(access: .readOnly))
            let count = name == "restored" ? KeepScenario.baseCount : 2 * KeepScenario.baseCount
            guard copy.head.rawValue == count else { throw Failure("\(name) has \(copy.head) events, not \(count)") }
            if name == "restored", try copy.root(size: copy.head) != restoredRoot { throw Failure("\(name) has another root") }
            for event in try copy.events(in: EventSequence(1)...copy.head)
            where payloads[Scenario.number(event.payload)] != event.payload {
                throw Failure("event \(event.sequence) of \(name) is not what was appended")
            }
            await copy.close()
        }
    }

    /// A writer goes on: it finishes what was begun, all verifies, and no file has the bytes of an event that was reported to be erased.
    func goOn(_ folder: String, _ facts: [KeepScenario.Told]) async throws {
        let path = folder + "/ledger"
        let log = try EventLog.open(at: path)
        try await log.append(NewEvent([1, 2, 3], encoding: .note, source: .log))
        await log.close()
        let again = try EventLog.open(at: path, options: EventLogOptions(access: .readOnly))
        let problems = try again.verify().problems
        await again.close()
        guard problems.isEmpty else { throw Failure("after a writer, verify finds \(problems.prefix(3))") }
        let secrets = facts.compactMap { fact -> Data? in
            guard case .erased(let sequence) = fact, let payload = payloads[sequence] else { return nil }
            return Data(payload.dropFirst(8).prefix(16))
        }
        if let name = try filesHolding(secrets, below: path).first { throw Failure("\(name) has bytes that were erased") }
    }
}
