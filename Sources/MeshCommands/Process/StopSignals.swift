import Dispatch
import Foundation
import Synchronization

/// Turns SIGINT, SIGTERM and SIGHUP into the cancellation of a task, so that queues are drained and views flushed. On
/// release the signals get their default actions again. A SIGHUP that is ignored, as under `nohup`, stays ignored.
///
/// The handler writes to a pipe, so no signal is lost once it no longer ends the process. Ignoring a signal until a dispatch source watches for it would
/// lose the ones that arrive in between.
final class StopSignals: Sendable {
    /// Called for each signal; nil while nothing waits for one.
    private static let receiver = Mutex<(@Sendable (ExitStatus) -> Void)?>(nil)

    /// The descriptor that the handler writes to.
    ///
    /// Synchronization: written once, before the first handler is installed.
    nonisolated(unsafe) private static var written: Int32 = -1

    /// Reads what the handler writes. Created once and never cancelled, since a handler may still be running after the last object is released. Nil
    /// if the pipe could not be created: signals then end the process as they do by default.
    ///
    /// Synchronization: never changed.
    nonisolated(unsafe) private static let source: (any DispatchSourceRead)? = {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { return nil }
        for end in ends { _ = (fcntl(end, F_SETFD, FD_CLOEXEC), fcntl(end, F_SETFL, O_NONBLOCK)) }
        let out = ends[0]
        unsafe written = ends[1]
        let source = DispatchSource.makeReadSource(fileDescriptor: out, queue: .global())
        source.setEventHandler {
            var number: UInt8 = 0
            while unsafe read(out, &number, 1) == 1 {
                guard let status = statuses[Int32(number)] else { continue }
                if let receive = receiver.withLock({ $0 }) { receive(status) } else { kill(getpid(), Int32(number)) }
            }
        }
        source.resume()
        return source
    }()

    private static let statuses: [Int32: ExitStatus] = [SIGINT: .interrupted, SIGTERM: .terminated, SIGHUP: .terminated]

    /// Synchronization: written from the signals' queue.
    private final class Received: Sendable {
        let status = Mutex<ExitStatus?>(nil)
    }

    private let numbers: [Int32]
    private let received = Received()

    /// How a command ends that a signal stopped.
    var status: ExitStatus? { received.status.withLock { $0 } }

    /// Only one may exist at a time.
    init(_ handler: @escaping @Sendable (ExitStatus) -> Void) {
        numbers = unsafe Self.source == nil ? [] : Self.statuses.keys.filter { $0 != SIGHUP || !Self.isIgnored(SIGHUP) }
        Self.receiver.withLock { receiver in
            receiver = { [received] status in
                received.status.withLock { $0 = status }
                handler(status)
            }
        }
        for number in numbers {
            signal(number) { number in
                let before = errno
                var byte = UInt8(truncatingIfNeeded: number)
                _ = unsafe write(StopSignals.written, &byte, 1)
                errno = before
            }
        }
    }

    deinit {
        for number in numbers { signal(number, SIG_DFL) }
        Self.receiver.withLock { $0 = nil }
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
    /// - Returns: what the work returned, and the status of the signal that came, if one did.
    static func cancelling<Result: Sendable>(
        _ work: @escaping @Sendable () async throws -> Result
    ) async throws -> (result: Result, stopped: ExitStatus?) {
        let (caught, begin) = AsyncStream.makeStream(of: Void.self)
        let task = Task {
            for await _ in caught {}  // a signal that came earlier would end the process
            return try await work()
        }
        let signals = StopSignals { _ in task.cancel() }
        begin.finish()
        let result = try await task.value
        return (result, signals.status)
    }
}
