import Foundation
import Glibc
import LogKit
import Synchronization
import TestKit
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

    @Test func `a thread for jobs steps back by ten, and not as far as it could`() async {
        await #expect(processExitsWith: .success) {
            let which = __priority_which_t(PRIO_PROCESS.rawValue)
            // Tests that step back themselves show nothing, unless they may undo it.
            let own = setpriority(which, id_t(getpid()), 0) == 0 ? 0 : getpriority(which, id_t(getpid()))
            let queue = BackgroundQueue(name: "test")
            let found = Mutex<Int32>(0)
            queue.async { found.withLock { $0 = getpriority(which, 0) } }
            queue.waitForJobs()
            #expect(found.withLock { $0 } == min(own + 10, 19))
        }
    }

    @Test func `threads of a log have names by which people know them`() async throws {
        let folder = try TemporaryFolder()
        var options = EventLogOptions()
        options.isInMemory = false
        let log = try EventLog.create(at: folder.path + "/ledger", options: options)
        try await log.append(NewEvent([1], encoding: .note, source: .log))
        let all = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").map { task in
            FileManager.default.contents(atPath: "/proc/self/task/\(task)/comm").map { String(decoding: $0, as: UTF8.self) }
        }
        #expect(all.contains("meshledger-log\n"))
        let own = Mutex("")
        try log.driver?.withWriterStopped { _ in own.withLock { $0 = Self.ownName } }
        #expect(own.withLock { $0 } == "meshledger-stop\n")
        let queue = BackgroundQueue(name: "a queue")
        queue.async { own.withLock { $0 = Self.ownName } }
        queue.waitForJobs()
        #expect(own.withLock { $0 } == "a queue\n")
        await log.close()
    }

    private static var ownName: String {
        FileManager.default.contents(atPath: "/proc/thread-self/comm").map { String(decoding: $0, as: UTF8.self) } ?? ""
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

    @Test
    func
        `the thread that wakes others has the priority of its process, also where a job that steps back is the first to need it`()
        async
    {
        await #expect(processExitsWith: .success) {
            let found = Mutex<Int32?>(nil)
            let isDone = Latch()
            let queue = BackgroundQueue(name: "test")
            queue.async {
                Relay.run {
                    found.withLock { $0 = BackgroundQueueTests.ownNiceness }
                    isDone.open()
                }
            }
            await isDone.wait()
            #expect(found.withLock { $0 } == BackgroundQueueTests.ownNiceness)
        }
    }

    @Test func `what is left to the thread that wakes others is done in the order in which it came`() async {
        let (gate, isDone) = (Gate(), Latch())
        let order = Mutex<[Int]>([])
        gate.close()
        Relay.run { gate.pass() }
        for number in 0..<5 { Relay.run { order.withLock { $0.append(number) } } }
        Relay.run { isDone.open() }
        gate.open()
        await isDone.wait()
        #expect(order.withLock { $0 } == Array(0..<5))
    }

    fileprivate static var ownNiceness: Int32 { getpriority(Int32(PRIO_PROCESS.rawValue), 0) }
}
