import EventLog
public import Projections

extension Ledger {
    /// Passes every change of a view to `body` after the commit that made it, until the task is cancelled: a stored row in its current state, a removed
    /// one without a value.
    ///
    /// ```swift
    /// let mirror = Task { try await ledger.forEachChange(of: "nodes") { $0.value == nil ? remove($0.key) : put($0.key, $0.value) } }
    /// ```
    /// `body` must only observe: what it, or a task that it starts, appends to a log throws `.mutationDuringEnumeration`. React to a change
    /// outside of it.
    ///
    /// - Parameter position: where to begin, after this position; nil for changes from now on.
    /// - Throws: what `body` throws, and what `changes(of:since:limit:)` throws.
    public func forEachChange(
        of view: String, since position: ChangePosition? = nil, _ body: (ViewChange) async throws -> Void
    ) async throws {
        var last = try position ?? changePosition(of: view)
        var pace = PollPace()
        while !Task.isCancelled {
            let commits = served.commits.value
            let news = try changes(of: view, since: last)
            try await AppendGuard.refusingAppends { for change in news.changes { try await body(change) } }
            last = news.position
            if news.changes.isEmpty { await served.waitForCommit(past: commits, &pace) } else { pace = PollPace() }
        }
    }
}
