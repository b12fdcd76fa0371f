import LogKit
import Synchronization
import TestKit
import Testing

@testable import EventLog

struct SubscriptionTests {
    @Test func `a subscription catches up in batches, then follows, and ends with the log`() async throws {
        let log = try EventLog.temporary()
        try await appendNumbered(log, 1000)
        let ranges = Mutex<[ClosedRange<EventSequence>]>([])
        let following = Task {
            for await range in log.subscribe(after: EventSequence(100), batch: 300) { ranges.withLock { $0.append(range) } }
        }
        for _ in 0..<50 {
            try await appendNumbered(log, 3)
            await Task.yield()
        }
        let last = log.head
        try await eventually { ranges.withLock { $0.last?.upperBound } == last }
        await log.close()
        await following.value
        var next = EventSequence(101)
        for range in ranges.withLock({ $0 }) {
            #expect(range.lowerBound == next)
            #expect(range.count <= 300)
            next = range.upperBound.advanced(by: 1)
        }
        #expect(next == last.advanced(by: 1))
    }

    @Test func `a reader that polls waits 16 times for two milliseconds, and then longer up to fifty`() {
        var pace = PollPace()
        let delays = (0..<24).map { _ in pace.step() }
        let longer = [4, 8, 16, 32, 50, 50, 50, 50].map { Duration.milliseconds($0) }
        #expect(delays == Array(repeating: .milliseconds(2), count: 16) + longer)
    }

    @Test func `a cancelled subscription ends`() async throws {
        let log = try EventLog.temporary()
        let count = Mutex(0)
        let following = Task {
            for await range in log.subscribe(after: .zero) { count.withLock { $0 += range.count } }
        }
        try await appendNumbered(log, 5)
        try await eventually { count.withLock { $0 } >= 5 }
        following.cancel()
        await following.value
        #expect(count.withLock { $0 } == 5)
        await log.close()
    }

    @Test func `a hook hears of each commit until it is removed`() async throws {
        let log = try EventLog.temporary()
        let heads = Mutex<[UInt64]>([])
        let hook = log.onAppend { head in heads.withLock { $0.append(head.rawValue) } }
        try await appendNumbered(log, 5)
        try await appendNumbered(log, 5)
        log.removeHook(hook)
        try await appendNumbered(log, 5)
        #expect(heads.withLock { $0 } == [5, 10])
        await log.close()
    }
}
