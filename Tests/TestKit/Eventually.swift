import Foundation

/// Waits until a condition holds.
///
/// The limit only ends a test that fails: it is long, so that a busy machine is not taken for a fault.
///
/// ```swift
/// try await eventually { log.head == EventSequence(5) }
/// ```
/// - Parameter pause: between two looks.
/// - Throws: `StillWaiting` after the limit, `CancellationError`, and the condition's errors.
public func eventually(
    within limit: Duration = .seconds(300), every pause: Duration = .milliseconds(5), file: StaticString = #fileID,
    line: Int = #line, _ condition: () async throws -> Bool
) async throws {
    let end = ContinuousClock.now + limit
    while try await !condition() {
        guard ContinuousClock.now < end else { throw StillWaiting(limit: limit, file: file, line: line) }
        try await Task.sleep(for: pause)
    }
}

/// The same for tests that are not asynchronous: it blocks the thread.
public func waitUntil(
    within limit: Duration = .seconds(300), every pause: Duration = .milliseconds(5), file: StaticString = #fileID,
    line: Int = #line, _ condition: () throws -> Bool
) throws {
    let end = ContinuousClock.now + limit
    while try !condition() {
        guard ContinuousClock.now < end else { throw StillWaiting(limit: limit, file: file, line: line) }
        Thread.sleep(forTimeInterval: pause / .seconds(1))
    }
}

/// What a test waited for has not come.
public struct StillWaiting: Error, CustomStringConvertible {
    let limit: Duration
    let file: StaticString
    let line: Int

    public var description: String { "what \(file):\(line) waits for has not come in \(limit)" }
}
