import Dispatch
import Foundation

/// Turns SIGINT and SIGTERM into the cancellation of a task, so that queues are drained and views flushed.
final class StopSignals {
    private let sources: [any DispatchSourceSignal]

    init(_ handler: @escaping @Sendable () -> Void) {
        sources = [SIGINT, SIGTERM].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler(handler: handler)
            source.resume()
            return source
        }
    }

    deinit {
        for source in sources { source.cancel() }
    }

    /// Runs work that ends cleanly when it is cancelled; the first signal cancels it.
    static func cancelling<Result: Sendable>(_ work: @escaping @Sendable () async throws -> Result) async throws -> Result {
        let task = Task { try await work() }
        let signals = StopSignals { task.cancel() }
        defer { withExtendedLifetime(signals) {} }
        return try await task.value
    }
}
