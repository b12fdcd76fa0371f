internal import Dispatch
internal import Foundation
internal import Glibc
internal import Synchronization

/// Runs the writer, which serves the queue.
///
/// If commits wait for a disk, it runs on a separate thread, since the threads of the pool must not wait. If the file is in memory,
/// nothing waits, and changing threads would cost more than the commit: there a job on the callers' pool serves the queue, and a
/// caller with many events stores them itself when the writer is free.
///
/// Synchronization: the writer and whether it has ended are behind the mutex.
final class LogDriver: Sendable {
    private struct State {
        var writer: LogWriter
        var hasEnded = false
    }

    private let queue: AppendQueue
    private let state: Mutex<State>
    private let sizes: SizeGuard
    private let isInMemory: Bool
    /// Jobs that wake callers.
    private let wakers = DispatchGroup()

    init(queue: AppendQueue, writer: LogWriter, sizes: SizeGuard, isInMemory: Bool) {
        self.queue = queue
        self.sizes = sizes
        self.isInMemory = isInMemory
        state = Mutex(State(writer: writer))
    }

    /// - Parameter finish: called once, when the queue is closed and everything in it has been served.
    func start(finish: @escaping @Sendable () -> Void) {
        if isInMemory {
            queue.serveFromPool(Schedule { self.scheduleStep(Step(), finish) })
        } else {
            let thread = Thread {
                ThreadName.set("meshledger-log")
                self.run()
                self.end(finish)
            }
            thread.stackSize = 1 << 20
            thread.start()
        }
    }

    private func end(_ finish: @escaping @Sendable () -> Void) {
        state.withLock { $0.hasEnded = true }
        wakers.notify(queue: .global(), execute: finish)
    }

    /// Runs `body` between two transactions of the writer, on a separate thread of normal priority, and waits for it.
    ///
    /// - Throws: `.closed` when the writer has ended, else what `body` throws.
    func withWriterStopped(
        _ body: @escaping @Sendable (inout LogWriter) throws(EventLogError) -> Void
    ) throws(EventLogError) {
        let result = BlockingResult<Result<Void, EventLogError>>()
        Relay.run {
            let thread = Thread {
                ThreadName.set("meshledger-stop")
                let done = self.state.withLock { state in
                    Result { () throws(EventLogError) in
                        if state.hasEnded { throw EventLogError(.closed, path: state.writer.path) }
                        try body(&state.writer)
                    }
                }
                result.set(done)
            }
            thread.stackSize = 1 << 20
            thread.start()
        }
        try result.wait().get()
    }

    /// Stores a request on the caller's thread, if that does not have to wait. Nil if it has to go through the queue.
    func serveNow(_ request: AppendRequest) -> AppendOutcome? {
        guard isInMemory, queue.isIdle, sizes.pause(isResting: false) == nil else { return nil }
        return state.withLockIfAvailable { state in
            guard !state.hasEnded else { return nil }
            var lane = AppendBatch()
            lane.add(request)
            state.writer.serve(&lane)
            return lane.outcomes.first
        } ?? nil
    }
}

extension LogDriver {
    /// Serves the queue from a thread until it is closed and empty.
    private func run() {
        var callers = 0
        var linger: UInt64 = 0
        while var lane = queue.take(expected: callers, lingerNanoseconds: linger) {
            if let pause = sizes.pause() { rest(pause) }
            let start = DispatchTime.now().uptimeNanoseconds
            state.withLock { $0.writer.serve(&lane) }
            let duration = DispatchTime.now().uptimeNanoseconds - start
            callers = min(lane.entries.count + queue.waitingCount, 1024)
            linger = callers >= 4 && duration >= Self.slowCommit ? min(duration / 8, Self.longestLinger) : 0
            wake(lane)
        }
    }

    /// Delays the next transaction, unless the log is being closed.
    private func rest(_ pause: Duration) {
        let end = ContinuousClock.now + pause
        while ContinuousClock.now < end, !queue.isClosed { usleep(10_000) }
    }

    /// In nanoseconds: a commit that took this long has waited for a disk.
    private static let slowCommit: UInt64 = 100_000
    private static let longestLinger: UInt64 = 50_000

    /// The state of a job that serves the queue.
    private struct Step: Sendable {
        /// How many callers were recently active.
        var callers = 0
        /// Until when it lets other jobs go first, in nanoseconds of the machine's uptime.
        var patienceEnd: UInt64 = 0
        /// Whether it has been held back.
        var hasRested = false
    }

    private func scheduleStep(_ step: Step, _ finish: @escaping @Sendable () -> Void) {
        DispatchQueue.global().async { self.perform(step, finish) }
    }

    /// Serves what is queued. The next step runs after the callers that this one wakes; while fewer than half of them have come back,
    /// it briefly lets other jobs go first, since a commit for each of them costs more than one for all.
    private func perform(_ step: Step, _ finish: @escaping @Sendable () -> Void) {
        if queue.waitingCount < step.callers / 2 && DispatchTime.now().uptimeNanoseconds < step.patienceEnd {
            sched_yield()
            return scheduleStep(step, finish)
        }
        if !step.hasRested, queue.waitingCount > 0, !queue.isClosed, let pause = sizes.pause() {
            var later = step
            later.hasRested = true
            let time = DispatchTime.now() + .nanoseconds(Int(pause / .nanoseconds(1)))
            return DispatchQueue.global().asyncAfter(deadline: time) { [later] in self.perform(later, finish) }
        }
        var callers = 0
        if var lane = queue.takeNow() {
            state.withLock { $0.writer.serve(&lane) }
            callers = min(lane.entries.count + queue.waitingCount, 1024)
            wake(lane)
        }
        if callers >= 4 {
            let end = DispatchTime.now().uptimeNanoseconds + Self.patience
            return scheduleStep(Step(callers: callers, patienceEnd: end), finish)
        }
        switch queue.rest() {
        case .more: scheduleStep(Step(), finish)
        case .asleep: break
        case .ended:
            queue.serveFromPool(nil)
            end(finish)
        }
    }

    /// In nanoseconds.
    private static let patience: UInt64 = 50_000
}

extension LogDriver {
    /// Wakes the lane's callers.
    ///
    /// Many are woken from jobs on the pool where they run, one job for each core: an idle thread of the pool sleeps,
    /// and waking it for each caller separately costs several times as much as the append.
    private func wake(_ lane: consuming AppendBatch) {
        let count = lane.entries.count
        guard count >= 8 else {
            lane.complete(0..<count, firstRequest: 0)
            return queue.recycle(lane)
        }
        let jobs = min(coreCount, count / 4)
        var firstRequests = [0]
        for job in 0..<jobs {
            let share = lane.entries[Self.share(job, of: jobs, count)]
            firstRequests.append(firstRequests[job] + (lane.requests.isEmpty ? 0 : share.count { $0.length == nil }))
        }
        let served = ServedLane(lane, jobs: jobs)
        let queue = queue
        for job in 0..<jobs {
            let firstRequest = firstRequests[job]
            let share: @Sendable () -> Void = {
                if let lane = served.complete(Self.share(job, of: jobs, count), firstRequest: firstRequest) {
                    queue.recycle(lane)
                }
            }
            if isInMemory && job == jobs - 1 { share() } else { DispatchQueue.global().async(group: wakers, execute: share) }
        }
    }

    private static func share(_ job: Int, of jobs: Int, _ count: Int) -> Range<Int> {
        count * job / jobs..<count * (job + 1) / jobs
    }
}
