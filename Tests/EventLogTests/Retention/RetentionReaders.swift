import EventLog
import Foundation
import LogKit
import TestKit
import Testing

/// Those who read a log on and on, and what they hear of a cut.
struct RetentionReaders {
    @Test func `a subscription goes on with the first event that is kept`() async throws {
        let log = try EventLog.temporary()
        try await appendNumbered(log, 2000)
        var ranges = log.subscribe(after: .zero, batch: 100).makeAsyncIterator()
        #expect(await ranges.next() == EventSequence(1)...EventSequence(100))
        try await log.cut(through: EventSequence(1280))
        #expect(await ranges.next() == EventSequence(1281)...EventSequence(1380))
        var fresh = log.subscribe(after: .zero, batch: 5000).makeAsyncIterator()
        #expect(await fresh.next() == EventSequence(1281)...EventSequence(2001))
        await log.close()
    }

    @Test func `a consumer learns which events it lost, and goes on when it skips them`() async throws {
        let log = try EventLog.temporary()
        try await appendNumbered(log, 2000)
        var consumer = try log.consumer(named: "late")
        let first = try consumer.available(limit: 100)
        try consumer.acknowledge(through: first[99].sequence)
        try await log.cut(through: EventSequence(512))
        var error = #expect(throws: EventLogError.self) { try consumer.available() }
        #expect(error?.code == .beyondRetention && error?.description.contains("lost the events from 101 to 512") == true)
        consumer.close()
        error = #expect(throws: EventLogError.self) { try log.consumer(named: "late") }
        #expect(error?.code == .beyondRetention)
        let status = try #require(try log.consumers().first)
        #expect(status.lost == 412 && status.lag == 2001 - 512)
        consumer = try log.consumer(named: "late", skipsDropped: true)
        #expect(try consumer.available().first?.sequence == EventSequence(513))
        #expect(consumer.lost == 412)
        consumer.close()
        let new = try log.consumer(named: "new")
        #expect(try new.available(limit: 1).first?.sequence == EventSequence(513))
        new.close()
        error = #expect(throws: EventLogError.self) { try log.consumer(named: "old", from: .sequence(EventSequence(10))) }
        #expect(error?.code == .beyondRetention)
        await log.close()
    }

    @Test func `a reader of another handle follows a cut`() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/ledger"
        let log = try EventLog.create(at: path)
        try await appendNumbered(log, 1000)
        try await log.cut(through: EventSequence(256))
        await log.close()
        let reader = try EventLog.open(at: path, options: EventLogOptions(access: .readOnly))
        #expect(reader.first == EventSequence(257))
        #expect(try reader.retention()?.retention.count == 256)
        await reader.close()
    }
}
