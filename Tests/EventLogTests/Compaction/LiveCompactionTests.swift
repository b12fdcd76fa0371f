import Foundation
import LogKit
import TestKit
import Testing

@testable import EventLog

/// A new generation is written while the log is open.
extension CompactionTests {
    private func options(_ hotEvents: Int = 512) -> EventLogOptions {
        EventLogOptions(sealing: SealingPolicy(hotEvents: hotEvents))
    }

    /// Reads ranges until `last` and expects each event once.
    private func follow(_ log: EventLog, through last: Int) async throws {
        var next = 1
        for await range in log.subscribe(after: .zero, batch: 300) {
            for event in try log.events(in: range) {
                #expect(event.payload == numberedPayload(next) && event.sequence == EventSequence(UInt64(next)))
                next += 1
            }
            if next > last { return }
        }
        Issue.record("the subscription ended after \(next - 1) events")
    }

    @Test func `a log is compacted again and again while it grows, is sealed and read`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/ledger"
        var log = try EventLog.create(at: path, options: options())
        let total = 30_000
        let running = log
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                var count = 0
                while count < total {
                    try await appendNumbered(running, 100)
                    count += 100
                    if count % 5000 == 0 { try await running.append([], cursor: SourceCursor(key: "k\(count)", value: [1])) }
                }
            }
            group.addTask { try await self.follow(running, through: total) }
            group.addTask {
                for _ in 0..<6 {
                    _ = try await running.compact()
                    let head = running.head
                    #expect(try running.root(size: head).count == 32)
                }
            }
            try await group.waitForAll()
        }
        #expect(try generations(path) == ["7"])
        let before = try log.root(size: log.head)
        #expect(try log.verify().isIntact)
        await log.close()
        log = try EventLog.open(at: path, options: options())
        #expect(log.head == EventSequence(UInt64(total)))
        #expect(try log.verify().isIntact)
        #expect(try log.root(size: log.head) == before)
        #expect(try log.cursor("k10000") == [1])
        #expect(try log.events(in: EventSequence(1)...log.head).map(\.payload) == (1...total).map(numberedPayload))
        await log.close()
    }

    @Test func `readers of other processes go over to the new generation and miss nothing`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/ledger"
        let log = try EventLog.create(at: path, options: options())
        try await appendNumbered(log, 100)
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                await #expect(processExitsWith: .success) { [path = path as String] in
                    let reader = try EventLog.open(at: path, options: EventLogOptions(access: .readOnly))
                    var next = 1
                    for await range in reader.subscribe(after: .zero, batch: 300) {
                        for event in try reader.events(in: range) {
                            #expect(event.payload == numberedPayload(next))
                            next += 1
                        }
                        if next > 20_000 { break }
                    }
                    #expect(next == 20_001)
                    #expect(try reader.sources().map(\.name) == ["late"])
                    #expect(try reader.verify().isIntact)
                    await reader.close()
                }
            }
            group.addTask {
                await #expect(throws: Never.self) {
                    for round in 1...199 {
                        try await appendNumbered(log, 100)
                        if round % 40 == 0 { _ = try await log.compact() }
                        if round == 190 { _ = try await log.source(named: "late") }
                        try await Task.sleep(for: .milliseconds(10))
                    }
                }
            }
        }
        #expect(try generations(path) == ["5"])
        await log.close()
    }

    @Test func `a generation that says it was replaced, but was not, is read and written on`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/ledger"
        let log = try EventLog.create(at: path, options: options())
        try await appendNumbered(log, 100)
        try log.store.setSuccessor(9)  // as after an interruption before the switch to a new generation
        await log.close()
        let reader = try EventLog.open(at: path, options: EventLogOptions(access: .readOnly))
        #expect(reader.head == EventSequence(100))
        #expect(try reader.verify().isIntact)
        await reader.close()
        let again = try EventLog.open(at: path, options: options())
        try await appendNumbered(again, 10)
        _ = try await again.compact()
        #expect(again.head == EventSequence(110))
        await again.close()
        #expect(try generations(path) == ["2"])
    }

    @Test func `a log that is closed while it is compacted is whole`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/ledger"
        let log = try EventLog.create(at: path, options: options())
        try await appendNumbered(log, 50_000)
        async let compaction = log.compact()
        await log.close()
        let outcome = try? await compaction  // it may have been faster
        #expect(try generations(path) == [outcome == nil ? "1" : "2"])
        let again = try EventLog.open(at: path, options: options())
        #expect(try again.verify().eventsChecked == 50_000)
        await again.close()
    }
}
