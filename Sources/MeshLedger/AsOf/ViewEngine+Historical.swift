import EventLog
import MeshViews
import Meshtastic
import Projections

extension ViewEngine {
    /// Views of which copies are kept while they are folded: small ones whose earlier states are queried as a whole.
    private static let keptOnTheWay: Set<String> = ["nodes"]

    /// Copies for questions about the past that a reader made of what an erasure removed meanwhile, and was killed before it removed them itself.
    func removeErasedCopies(_ definitions: [ViewDefinition]) throws {
        guard try log.lastErasure() != nil else { return }
        for definition in definitions { try HistoricalSnapshots(definition, served, log, past).prune() }
    }

    /// Folds up to an event, and keeps copies of earlier states.
    func fold(
        _ pipeline: FoldPipeline<MeshStage>, _ members: [Member], through target: UInt64, committing reason: FlushReason? = nil,
        progress: (@Sendable (FoldProgress) -> Void)?
    ) async throws {
        let (past, kept) = (past, members.filter { Self.keptOnTheWay.contains($0.definition.name) })
        let halts = FoldBarriers<MeshBatch> { reached, target in
            kept.isEmpty ? [] : past.halts(after: reached, through: target)
        } visit: { halt, folders in
            for member in kept {
                let snapshots = try HistoricalSnapshots(member.definition, self.served, self.log, past)
                for folder in folders where folder.viewName == member.definition.name {
                    try await folder.flush(.size, then: { snapshots.keep(member.store, at: halt) })
                }
            }
        }
        try await pipeline.fold(through: target, halts: halts, committing: reason, progress: progress)
    }
}

extension BatchFolder {
    /// Commits everything that is pending, and calls `body` while no writes are possible.
    fileprivate func flush(_ reason: FlushReason, then body: @Sendable () -> Void) throws {
        try flush(reason)
        body()
    }
}
