import Dispatch
import Synchronization

/// Work for another thread. If the result is requested before a thread has begun, the requester does it instead, and never waits for a busy pool.
///
/// Synchronization: the mutex, and the semaphore that signals the end of the work.
final class WorkBeside<Value: Sendable, Failure: Error>: Sendable {
    private enum State: Sendable {
        case waiting(@Sendable () -> Result<Value, Failure>)
        case begun
        case ended(Result<Value, Failure>)
        case taken
    }

    private let state: Mutex<State>
    private let end = DispatchSemaphore(value: 0)

    /// - Parameter isOffered: whether other threads may begin it before the result is requested.
    init(isOffered: Bool = true, _ work: @escaping @Sendable () -> Result<Value, Failure>) {
        state = Mutex(.waiting(work))
        if isOffered { DispatchQueue.global().async { self.begin() } }
    }

    /// Does the work, unless it has begun.
    func begin() {
        let work: (@Sendable () -> Result<Value, Failure>)? = state.withLock { state in
            guard case .waiting(let work) = state else { return nil }
            state = .begun
            return work
        }
        guard let work else { return }
        let result = work()
        state.withLock { $0 = .ended(result) }
        end.signal()
    }

    var hasBegun: Bool {
        state.withLock { state in
            if case .waiting = state { false } else { true }
        }
    }

    var hasEnded: Bool {
        state.withLock { state in
            if case .ended = state { true } else { false }
        }
    }

    /// To be called once.
    func result() -> Result<Value, Failure> {
        begin()
        end.wait()
        return state.withLock { state in
            guard case .ended(let result) = state else { preconditionFailure("the result of work was requested twice") }
            state = .taken
            return result
        }
    }

    /// Ensures that the work does not continue if its result was not requested.
    func drop() {
        let hasBegun = state.withLock { state in
            switch state {
            case .waiting: state = .taken
            case .begun: return true
            case .ended, .taken: break
            }
            return false
        }
        if hasBegun { end.wait() }
    }
}
