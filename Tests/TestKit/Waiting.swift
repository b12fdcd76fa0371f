import Foundation
import Synchronization

/// Runs what blocks on a thread of its own, so that the tasks that it waits for can run.
package func onThread<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
    try await withCheckedThrowingContinuation { waiter in
        Thread.detachNewThread { waiter.resume(with: Swift.Result(catching: body)) }
    }
}

/// Runs asynchronous work and blocks the thread, which must be one of `onThread`, until it is done.
package func waiting(_ work: @escaping @Sendable () async throws -> Void) throws {
    let done = DispatchSemaphore(value: 0)
    let failure = Mutex<(any Error)?>(nil)
    Task.detached {
        do { try await work() } catch { failure.withLock { $0 = error } }
        done.signal()
    }
    done.wait()
    if let failure = failure.withLock({ $0 }) { throw failure }
}
