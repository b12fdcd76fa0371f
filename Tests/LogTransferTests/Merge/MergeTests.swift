import EventLog
import Foundation
import LogKit
import LogTransfer
import Synchronization
import TestKit
import Testing

@Suite(.timeLimit(.minutes(40))) struct MergeTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// A log of one place, whose clock jumps.
    func place(_ seed: UInt64, events: Int) async throws -> EventLog {
        let clock = JumpingClock(seed: seed)
        let log = try EventLog.create(at: "\(folder.path)/place-\(seed)", options: EventLogOptions(clock: { clock.next() }))
        var random = SeededGenerator(seed: seed)
        for number in 0..<events {
            let source = try await log.source(named: "source \(number % 3)")
            try await log.append(NewEvent(random.bytes(20), encoding: .note, source: number % 7 == 0 ? .log : source))
        }
        return log
    }

    func merge(_ logs: [EventLog], _ name: String) async throws -> EventLog {
        let path = folder.path + "/" + name
        let report = try await EventLog.merge(logs, into: path)
        let merged = try EventLog.open(at: path)
        #expect(report.ledger == merged.identifier)
        #expect(try report.root == merged.root(size: merged.head))
        #expect(try merged.verify().isIntact)
        return merged
    }

    func expectSame(_ left: EventLog, _ right: EventLog) throws {
        #expect(left.identifier == right.identifier)
        #expect(try left.root(size: left.head) == right.root(size: right.head))
        #expect(try content(left) == content(right))
        #expect(try left.sources() == right.sources())
        for sequence in stride(from: 1, through: left.head.rawValue, by: 17) {
            #expect(try left.origin(of: EventSequence(sequence)) == right.origin(of: EventSequence(sequence)))
        }
    }

    @Test(arguments: [1, 2, 3] as [UInt64])
    func `D19: any order of merging gives the same ledger, and merging again adds nothing`(_ seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        var logs: [EventLog] = []
        for number in 1...3 {
            logs.append(try await place(seed * 10 + UInt64(number), events: Int.random(in: 1...400, using: &random)))
        }
        let (a, b, c) = (logs[0], logs[1], logs[2])
        let all = try await merge([a, b, c], "abc")
        #expect(all.head.rawValue == a.head.rawValue + b.head.rawValue + c.head.rawValue)
        try expectSame(try await merge([c, a, b, a], "caba"), all)
        let (ab, bc) = (try await merge([a, b], "ab"), try await merge([c, b], "cb"))
        try expectSame(try await merge([ab, c], "ab-c"), all)
        try expectSame(try await merge([a, bc], "a-bc"), all)
        try expectSame(try await merge([bc, ab, all], "bc-ab-abc"), all)
        try expectSame(try await merge([ab, b], "ab-b"), ab)
        for log in logs + [all, ab, bc] { await log.close() }
    }

    @Test func `events keep the order, the times and the origin that they had in their ledger`() async throws {
        let (a, b) = (try await place(5, events: 300), try await place(6, events: 200))
        let merged = try await merge([a, b], "merged")
        var next = [a.identifier: 1, b.identifier: 1] as [String: UInt64]
        // The clocks jump: an event counts as of the latest time that its log had seen.
        var latest: [String: Timestamp] = [:]
        var before = Timestamp(microseconds: .min)
        for event in try content(merged) {
            let origin = try merged.origin(of: event.sequence)
            #expect(origin.sequence.rawValue == next[origin.ledger])
            next[origin.ledger, default: 0] += 1
            let first = try (origin.ledger == a.identifier ? a : b).event(origin.sequence)
            #expect(event.payload == first?.payload && event.header.arrivalTime == first?.header.arrivalTime)
            let time = max(event.header.arrivalTime, latest[origin.ledger] ?? Timestamp(microseconds: .min))
            #expect(time >= before)
            latest[origin.ledger] = time
            before = time
        }
        let names = try merged.sources().map(\.name)
        #expect(names.count == 8 && Set(names).count == 8)
        #expect(names.contains("source 1 @" + a.identifier) && names.contains("@" + b.identifier))
        for log in [a, b, merged] { await log.close() }
    }

    @Test func `copies, chosen parts and grown copies merge to what their origins merge to`() async throws {
        let (a, b) = (try await place(7, events: 500), try await place(8, events: 100))
        let whole = try await merge([a, b], "whole")
        let file = folder.path + "/recording"
        let (copy, mixed) = (try EventLog.temporary(), try EventLog.temporary())
        try a.record(to: file)
        _ = try await copy.importRecording(file)
        try b.record(to: file)
        _ = try await mixed.importRecording(file)
        try a.record(to: file, RecordingSelection(where: { header, _ in header.sequence.rawValue % 5 == 0 }, text: "fifths"))
        #expect(try await mixed.importRecording(file).added == 100)
        try expectSame(try await merge([mixed, copy], "mixed"), whole)
        for log in [a, b, whole, copy, mixed] { await log.close() }
    }

    @Test func `what was erased in one copy is erased in the merged ledger, whatever the others have`() async throws {
        let (a, b) = (try await place(9, events: 300), try await place(10, events: 300))
        let old = try await merge([a, b], "old")
        let chosen = EventSequence(23)...EventSequence(27)
        _ = try await a.erase([chosen], reason: "test")
        let (left, right) = (try await merge([a, b, old], "left"), try await merge([b, old, a], "right"))
        try expectSame(left, right)
        #expect(try content(left).count { $0.header.isErased } == 5)
        try expectSame(try await merge([left, old], "again"), left)
        for log in [a, b, old, left, right] { await log.close() }
    }

    @Test func `two ledgers that tell different things of one event are not merged, and nothing is left`() async throws {
        let a = try await place(11, events: 50)
        let path = a.path
        await a.close()
        try FileManager.default.copyItem(atPath: path, toPath: path + "-fork")
        let (left, right) = (try EventLog.open(at: path), try EventLog.open(at: path + "-fork"))
        try await appendNumbered(left, 1)
        try await appendNumbered(right, 2)
        let error = await #expect(throws: EventLogError.self) {
            try await EventLog.merge([left, right], into: folder.path + "/new")
        }
        #expect(error?.code == .forked)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasPrefix("new") || $0.hasPrefix(".") }
                == [])
        await left.close()
        await right.close()
    }
}

/// A clock that sometimes jumps, also backwards.
final class JumpingClock: Sendable {
    private let state: Mutex<(random: SeededGenerator, time: Int64)>

    init(seed: UInt64) { state = Mutex((SeededGenerator(seed: seed), 1_700_000_000_000_000)) }

    func next() -> Timestamp {
        state.withLock { state in
            let jumps = Int.random(in: 0..<20, using: &state.random) == 0
            state.time += jumps ? Int64.random(in: -50_000...50_000, using: &state.random) : 1000
            return Timestamp(microseconds: state.time)
        }
    }
}
