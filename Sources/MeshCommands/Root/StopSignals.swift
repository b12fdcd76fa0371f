import Dispatch
import Foundation
import Synchronization

/// Turns SIGINT, SIGTERM and SIGHUP into the cancellation of a task, so that queues are drained and views flushed. On
/// release the signals get their default actions again. A SIGHUP that is ignored, as under `nohup`, stays ignored.
final class StopSignals {
    /// Synchronization: written from the signals' queue.
    private final class Received: Sendable {
        let status = Mutex<ExitStatus?>(nil)
    }

    private let numbers: [Int32]
    private let sources: [any DispatchSourceSignal]
    private let received = Received()

    /// The exit status of a command that a signal stopped.
    var status: ExitStatus? { received.status.withLock { $0 } }

    init(_ handler: @escaping @Sendable () -> Void) {
        let statuses: [(number: Int32, status: ExitStatus)] = [
            (SIGINT, .interrupted), (SIGTERM, .terminated), (SIGHUP, .terminated),
        ]
        let heeded = statuses.filter { $0.number != SIGHUP || !Self.isIgnored(SIGHUP) }
        numbers = heeded.map(\.number)
        sources = numbers.map { number in
            signal(number, SIG_IGN)
            return DispatchSource.makeSignalSource(signal: number, queue: .global())
        }
        for (source, status) in zip(sources, heeded.map(\.status)) {
            source.setEventHandler { [received] in
                received.status.withLock { $0 = status }
                handler()
            }
            source.resume()
        }
    }

    deinit {
        for source in sources { source.cancel() }
        for number in numbers { signal(number, SIG_DFL) }
    }

    private static func isIgnored(_ number: Int32) -> Bool {
        var action = sigaction()
        guard unsafe sigaction(number, nil, &action) == 0 else { return false }
        let (handler, ignoring) = unsafe (
            unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self), unsafeBitCast(SIG_IGN, to: Int.self)
        )
        return handler == ignoring
    }

    /// Runs work that ends cleanly when it is cancelled; the first signal cancels it.
    /// - Returns: the result of the work, and the status of the signal, if one came.
    static func cancelling<Result: Sendable>(
        _ work: @escaping @Sendable () async throws -> Result
    ) async throws -> (result: Result, stopped: ExitStatus?) {
        let task = Task { try await work() }
        let signals = StopSignals { task.cancel() }
        let result = try await task.value
        return (result, signals.status)
    }
}
