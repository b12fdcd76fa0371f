import EventLog
import Foundation
import LMDB
import Meshtastic
import Projections

/// Work before which the views make way.
extension ViewEngine {
    /// Runs `work`, which erases events, while no view is kept; then all views are begun anew.
    /// - Parameter forgotten: whose rows leave the baselines of dropped events.
    func erase(
        _ definitions: [ViewDefinition], keyring: Keyring, forgetting forgotten: Forgotten?,
        _ work: @escaping @Sendable () async throws -> ErasureReport
    ) async throws -> ErasureReport {
        while let erasure { _ = try? await erasure.value }  // it was told to whoever asked for it
        let task = Task {
            defer { erasure = nil }
            return try await runErasure(definitions, keyring: keyring, forgotten, work)
        }
        erasure = task
        return try await task.value
    }

    func runErasure(
        _ definitions: [ViewDefinition], keyring: Keyring, _ forgotten: Forgotten?,
        _ work: @Sendable () async throws -> ErasureReport
    ) async throws -> ErasureReport {
        TemporaryFolders.removeAbandoned()
        try await cancelBuild()
        let (pipeline, members) = (live, liveMembers)
        (live, liveMembers) = (nil, [])
        await pipeline?.stop()
        for member in members { member.store.close() }
        served.close()
        do {
            if let forgotten, try await baselines.forget(forgotten) { try erased.removeAll() }
            let report = try await work()
            try await start(definitions, keyring: keyring)
            return report
        } catch {
            // Where it was begun, the views from before it are of no use all the same.
            if !isClosed { try await start(definitions, keyring: keyring) }
            throw error
        }
    }

    // MARK: Retention

    /// Lets the views make baselines of all events up to `last`, and drops these events; where that is done already, nothing. Nothing else may begin to
    /// build views meanwhile, or to cut.
    func retain(
        through last: UInt64, _ definitions: [ViewDefinition], keyring: Keyring, keeping checkpoints: [UInt64],
        progress: (@Sendable (FoldProgress) -> Void)?
    ) async throws -> Retention {
        try await settle(nil)
        // Another command may have dropped them meanwhile: its baselines are in force, and their place must not be taken.
        if let done = try log.retention()?.retention, done.first.rawValue > last { return done }
        try requireBaselines(definitions)  // the next ones begin with these
        let made = try await baselines.make(definitions, keyring: keyring, through: last, progress: progress)
        let done = try await log.cut(through: EventSequence(last), baselines: made, keeping: checkpoints)
        baselines.folder.removeAll(but: last)
        return done.retention
    }
}
