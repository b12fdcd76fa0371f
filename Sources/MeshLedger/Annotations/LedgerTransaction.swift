public import EventLog
import MeshViews

/// Events that are appended together, or not at all. See `Ledger.transaction`.
public struct LedgerTransaction {
    fileprivate(set) var events: [NewEvent] = []
    fileprivate(set) var annotations: [Annotation] = []

    /// Adds an event.
    public mutating func append(_ event: NewEvent) { events.append(event) }

    /// Adds a person's decision.
    public mutating func annotate(_ annotation: Annotation) { annotations.append(annotation) }
}

extension Ledger {
    /// Appends everything that `body` adds in one commit, or nothing if it throws or an annotation is refused.
    ///
    /// ```swift
    /// try await ledger.transaction { transaction in
    ///     transaction.append(envelope)
    ///     transaction.annotate(.favorite(0x1902_5c00))
    /// }
    /// ```
    /// - Returns: the sequences, first those of the events, then those of the annotations; nil if nothing was added.
    /// - Throws: what `body` throws, and what `annotations.record` and the log's `append` throw.
    @discardableResult
    public func transaction(
        _ body: (inout LedgerTransaction) async throws -> Void
    ) async throws -> ClosedRange<EventSequence>? {
        guard !isReadOnly else { throw readOnlyError }
        var transaction = LedgerTransaction()
        try await body(&transaction)
        let added = transaction
        return try await annotationGate.run {
            if !added.annotations.isEmpty {
                try await flush()
                try annotations.check(added.annotations, .refuse)
            }
            let source = try await added.annotations.isEmpty ? .log : log.source(named: Annotations.source)
            let events = added.annotations.flatMap(\.parts).map { NewEvent($0.payload, encoding: .annotation, source: source) }
            let range = try await log.append(added.events + events)
            if !events.isEmpty { try await flush() }
            return range
        }
    }
}
