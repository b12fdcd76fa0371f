internal import Dispatch
internal import Foundation
internal import Glibc
internal import Synchronization

/// Runs jobs one after the other on a separate thread of lower priority: work beside the writer must not take
/// the core from callers that append. Jobs leave anything that wakes tasks or uses Dispatch queues to `Relay`.
///
/// Synchronization: the jobs are behind the mutex; the thread sleeps on `wakeUp`.
final class BackgroundQueue: Sendable {
    private struct State {
        var jobs: [@Sendable () -> Void] = []
        var hasThread = false
        var isEnded = false
    }

    /// The state that the thread holds, so that the queue itself can be released.
    private final class Line: Sendable {
        let state = Mutex(State())
        let wakeUp = DispatchSemaphore(value: 0)

        func run(_ name: String) {
            ThreadName.set(name)
            // Linux applies it to this thread only; if it is refused, jobs run at normal priority. If the process itself has a lower priority, the
            // thread must not get a higher one.
            let which = __priority_which_t(PRIO_PROCESS.rawValue)
            let niceness = min(getpriority(which, id_t(getpid())) + BackgroundQueue.stepBack, 19)
            _ = setpriority(which, 0, niceness)
            while true {
                wakeUp.wait()
                let (job, isEnded) = state.withLock { ($0.jobs.isEmpty ? nil : $0.jobs.removeFirst(), $0.isEnded) }
                if let job { job() } else if isEnded { return }
            }
        }
    }

    private let line = Line()
    private let name: String
    /// About a tenth of the share of a thread with normal priority.
    private static let stepBack: Int32 = 10

    /// - Parameter name: the thread's.
    init(name: String) { self.name = name }

    deinit {
        line.state.withLock { $0.isEnded = true }
        line.wakeUp.signal()
    }

    func async(_ job: @escaping @Sendable () -> Void) {
        let startsThread = line.state.withLock { state in
            state.jobs.append(job)
            defer { state.hasThread = true }
            return !state.hasThread
        }
        if startsThread { startThread() }
        line.wakeUp.signal()
    }

    /// Returns when the jobs that were added before are done.
    func waitForJobs() {
        guard line.state.withLock({ $0.hasThread }) else { return }
        let done = DispatchSemaphore(value: 0)
        async { done.signal() }
        done.wait()
    }

    private func startThread() {
        Relay.begin()
        let (line, name) = (line, name)
        let thread = Thread { line.run(name) }
        thread.stackSize = 1 << 20
        thread.start()
    }
}
