import Glibc
import Synchronization
import Testing

@testable import EventLog

struct BackgroundQueueTests {
    @Test func `jobs run one after the other, on a thread that alone steps back`() {
        let queue = BackgroundQueue(name: "test")
        let order = Mutex<[Int]>([])
        let niceness = Mutex<Int32>(0)
        for number in 0..<1_000 { queue.async { order.withLock { $0.append(number) } } }
        queue.async { niceness.withLock { $0 = Self.ownNiceness } }
        queue.waitForJobs()
        #expect(order.withLock { $0 } == Array(0..<1_000))
        #expect(niceness.withLock { $0 } > Self.ownNiceness)
    }

    @Test func `jobs that were added are done even when the queue has gone`() async {
        let isDone = Latch()
        let order = Mutex<[Int]>([])
        do {
            let queue = BackgroundQueue(name: "test")
            queue.async { usleep(10_000) }
            queue.async { order.withLock { $0.append(1) } }
            queue.async { isDone.open() }
        }
        await isDone.wait()
        #expect(order.withLock { $0 } == [1])
    }

    private static var ownNiceness: Int32 { getpriority(Int32(PRIO_PROCESS.rawValue), 0) }
}
