public import EventLog
import MeshViews

extension LedgerWriter {
    /// Records a person's decisions, as `Ledger.annotate` does.
    /// - Throws: what `Ledger.annotate` throws, and `.locked` if the writing process stops answering.
    @discardableResult
    public func annotate(
        _ annotations: [Annotation], onCollision collision: AliasCollision = .refuse
    ) async throws(LedgerError) -> ClosedRange<EventSequence> {
        try await asking {
            try await either {
                try await $0.annotate(annotations, onCollision: collision)
            } _: { client in
                try Self.range(await client.call(.annotate(annotations, collision)), client)
            }
        }
    }

    /// Undoes an annotation, as `Ledger.revert` does.
    /// - Throws: what `Ledger.revert` throws, and `.locked` if the writing process stops answering.
    @discardableResult
    public func revert(_ sequence: EventSequence) async throws(LedgerError) -> ClosedRange<EventSequence> {
        try await asking {
            try await either {
                try await $0.revert(sequence)
            } _: { client in
                try Self.range(await client.call(.revert(sequence)), client)
            }
        }
    }

    private static func range(_ answer: ControlAnswer, _ client: ControlClient) throws -> ClosedRange<EventSequence> {
        guard answer.numbers.count == 2, answer.numbers[0] <= answer.numbers[1] else {
            throw ControlFailure.control(ControlError(.protocolBroken, path: client.path))
        }
        return EventSequence(answer.numbers[0])...EventSequence(answer.numbers[1])
    }
}
