internal import Dispatch
internal import Foundation
internal import Synchronization

/// A thread of normal priority, to which the threads of `BackgroundQueue` leave what may start other threads: waking tasks, using Dispatch queues.
///
/// On Linux a new thread inherits the niceness of the thread that starts it, and cannot lower it without privileges; the threads of the process'
/// pool are started by any thread that gives them work. Without this, the pool's threads would keep the low priority for good.
enum Relay {
    /// Synchronization: the jobs are behind the mutex; the thread sleeps on `wakeUp`.
    private final class Line: Sendable {
        private let jobs = Mutex<[@Sendable () -> Void]>([])
        private let wakeUp = DispatchSemaphore(value: 0)

        init() {
            let thread = Thread { self.serve() }
            thread.stackSize = 1 << 20
            thread.start()
        }

        func add(_ job: @escaping @Sendable () -> Void) {
            jobs.withLock { $0.append(job) }
            wakeUp.signal()
        }

        private func serve() {
            ThreadName.set("meshledger-wake")
            while true {
                wakeUp.wait()
                let job = jobs.withLock { $0.isEmpty ? nil : $0.removeFirst() }
                job?()
            }
        }
    }

    private static let line = Line()

    /// Starts the thread; the first caller must be a thread of normal priority.
    static func begin() { _ = line }

    /// Runs a job that does not take long.
    static func run(_ job: @escaping @Sendable () -> Void) { line.add(job) }
}
