import Dispatch
import Foundation
import Synchronization

/// Turns SIGINT and SIGTERM into the cancellation of a task, so that queues are drained and views flushed. When it is
/// released the signals do again what they do by default.
final class StopSignals {
    /// Synchronization: written from the signals' queue.
    private final class Received: Sendable {
        let status = Mutex<ExitStatus?>(nil)
    }

    private let sources: [any DispatchSourceSignal]
    private let received = Received()

    /// How a command ends that a signal stopped.
    var status: ExitStatus? { received.status.withLock { $0 } }

    init(_ handler: @escaping @Sendable () -> Void) {
        sources = [SIGINT, SIGTERM].map { number in
            signal(number, SIG_IGN)
            return DispatchSource.makeSignalSource(signal: number, queue: .global())
        }
        for (source, status) in zip(sources, [ExitStatus.interrupted, .terminated]) {
            source.setEventHandler { [received] in
                received.status.withLock { $0 = status }
                handler()
            }
            source.resume()
        }
    }

    deinit {
        for source in sources { source.cancel() }
        signal(SIGINT, SIG_DFL)
        signal(SIGTERM, SIG_DFL)
    }

    /// Runs work that ends cleanly when it is cancelled; the first signal cancels it.
    /// - Returns: what the work returned, and the status of the signal that came, if one did.
    static func cancelling<Result: Sendable>(
        _ work: @escaping @Sendable () async throws -> Result
    ) async throws -> (result: Result, stopped: ExitStatus?) {
        let task = Task { try await work() }
        let signals = StopSignals { task.cancel() }
        let result = try await task.value
        return (result, signals.status)
    }
}
