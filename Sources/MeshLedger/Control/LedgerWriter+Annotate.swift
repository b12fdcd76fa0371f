public import EventLog
import MeshViews

extension LedgerWriter {
    /// Records a person's decisions, as `Ledger.Annotations.record` does.
    /// - Throws: what `Ledger.Annotations.record` throws, and `.locked` if the writing process stops answering.
    @discardableResult
    public func annotate(
        _ annotations: [Annotation], onCollision collision: AliasCollision = .refuse
    ) async throws(LedgerError) -> ClosedRange<EventSequence> {
        try await ask(.annotate(annotations, collision)) { $0.range }
    }

    /// Undoes an annotation, as `Ledger.Annotations.revert` does.
    /// - Throws: what `Ledger.Annotations.revert` throws, and `.locked` if the writing process stops answering.
    @discardableResult
    public func revert(_ sequence: EventSequence) async throws(LedgerError) -> ClosedRange<EventSequence> {
        try await ask(.revert(sequence)) { $0.range }
    }
}
