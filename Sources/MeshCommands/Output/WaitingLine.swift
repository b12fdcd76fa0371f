import Foundation
import Synchronization

/// After a second without other output, says on a terminal that work continues, and for how long. Any other output ends it.
final class WaitingLine: Sendable {
    private struct State {
        var isVisible = false
        var isOver = false
    }

    private static let current = Mutex<WaitingLine?>(nil)

    private let state = Mutex(State())

    private init() {}

    /// Runs work, and says so where it takes long.
    /// - Parameter title: what is done, such as `comparing`; nil to say nothing.
    static func during<Result>(_ title: String?, _ work: () async throws -> Result) async throws -> Result {
        let end = begin(title)
        defer { end() }
        return try await work()
    }

    /// The same of work that blocks its thread.
    static func during<Result>(_ title: String?, _ work: () throws -> Result) throws -> Result {
        let end = begin(title)
        defer { end() }
        return try work()
    }

    private static func begin(_ title: String?) -> () -> Void {
        guard let title, isatty(2) == 1 else { return {} }
        let line = WaitingLine()
        current.withLock { $0 = line }
        let started = ContinuousClock.now
        let task = Task {
            while !Task.isCancelled {
                try await Task.sleep(for: .seconds(1))
                line.show("\(title)  \(ProgressBar.duration((ContinuousClock.now - started) / .seconds(1)))")
            }
        }
        return {
            task.cancel()
            line.end()
        }
    }

    /// Something else is shown: nothing more is said.
    static func end() { current.withLock { $0 }?.end() }

    /// Makes room for a line on standard error.
    static func clear() { current.withLock { $0 }?.clear() }

    private func show(_ text: String) {
        state.withLock { state in
            guard !state.isOver else { return }
            state.isVisible = true
            StandardOutput.rawError("\r\u{1b}[K\(DisplayWidth.safe(text))")
        }
    }

    private func end() {
        clear()
        state.withLock { $0.isOver = true }
    }

    private func clear() {
        state.withLock { state in
            if state.isVisible { StandardOutput.rawError("\r\u{1b}[K") }
            state.isVisible = false
        }
    }
}
