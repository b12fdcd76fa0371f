import EventLog
public import Projections

extension Ledger.Changes {
    /// Passes each changed row of a view to `body` after the commit that changed it, until the task is cancelled: a stored row in its current state, a removed
    /// one without a value.
    ///
    /// ```swift
    /// let mirror = Task { try await ledger.changes.forEach(of: "nodes") { $0.value == nil ? remove($0.key) : put($0.key, $0.value) } }
    /// ```
    /// `body` must only observe: what it, or a task that it starts, appends to a log throws `.mutationDuringEnumeration`. React to a change
    /// outside of it.
    ///
    /// - Parameter position: where to begin, after this position; nil for changes from now on.
    /// - Throws: what `body` throws, and what `fetch(of:since:limit:)` throws.
    public func forEach(
        of view: String, since position: ChangePosition? = nil, _ body: (ViewChange) async throws -> Void
    ) async throws {
        var last = try position ?? self.position(of: view)
        var pace = PollPace()
        while !Task.isCancelled {
            let commits = ledger.served.commits.value
            let news = try fetch(of: view, since: last)
            try await AppendGuard.refusingAppends { for change in news.changes { try await body(change) } }
            last = news.position
            if news.changes.isEmpty { await ledger.served.waitForCommit(past: commits, &pace) } else { pace = PollPace() }
        }
    }
}
