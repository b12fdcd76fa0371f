internal import Synchronization

/// Runs jobs that rewrite the log beside the writer: one after the other, on a low-priority thread.
///
/// Synchronization: whether it has ended is atomic; jobs wait in `queue`.
final class Maintenance: Sendable {
    private let queue = BackgroundQueue(name: "meshledger-keep")
    private let sizes: SizeGuard?
    private let ended = Atomic<Bool>(false)

    /// - Parameter sizes: where the jobs make room in the log.
    init(_ sizes: SizeGuard? = nil) { self.sizes = sizes }

    /// Whether the log is being closed: a long job ends soon.
    var isEnded: Bool { ended.load(ordering: .relaxed) }

    func perform<Result: Sendable>(
        _ job: @escaping @Sendable () throws(EventLogError) -> Result
    ) async throws(EventLogError) -> Result {
        let outcome = await withCheckedContinuation { (waiter: CheckedContinuation<Swift.Result<Result, EventLogError>, Never>) in
            queue.async { [sizes] in
                let result = Swift.Result { () throws(EventLogError) in
                    guard let sizes else { return try job() }
                    return try sizes.makingRoom(job)
                }
                Relay.run { waiter.resume(returning: result) }
            }
        }
        return try outcome.get()
    }

    /// Runs a job that only `finish` waits for.
    func start(_ job: @escaping @Sendable () -> Void) { queue.async(job) }

    /// Called when the writer has ended: waits for running jobs.
    func finish() {
        ended.store(true, ordering: .relaxed)
        queue.waitForJobs()
    }
}
